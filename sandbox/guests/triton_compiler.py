"""Compile kernels of a Python file by Triton, in a caged child of this interpreter, and remember them by content.

The child sees Triton's package, this project's, and a folder of its own. What it runs is what `triton_source` takes of
the file. It has no GPU and needs none.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import time
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from records import scratch_folder
from records.codec import dumps, loads
from records.errors import NoAnswer, ToolchainError
from records.evaluation import Finding
from records.files import write_whole
from records.outside_text import decoded
from sandbox.amdgcn.compiler import MAX_LISTING, Compilation
from sandbox.amdgcn.listing import kernels_in
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cage.output import UNREADABLE, UnusableOutput, read_output
from sandbox.cage.python_child import ENVIRONMENT, python_child
from sandbox.candidate.diagnostics import ending_of, listing_findings, readable, refusal
from sandbox.candidate.language import CLOSE
from sandbox.candidate.limits import resources_of
from sandbox.candidate.plan import Candidate
from sandbox.guests import triton_child, triton_source
from sandbox.guests.triton_child import LISTING, REPLY, REQUEST, SOURCE, TAKEN
from sandbox.guests.triton_job import TritonJob
from sandbox.process import Completed, ProcessLimits, run
from sandbox.target import Target

FORMAT = "2"  # raise it when a stored kernel would be read differently
LIMITS = ProcessLimits(cpu_s=120, resident_bytes=3 << 30)
_MOST_REPLY = 1 << 20
_SETTINGS = {"TRITON_BACKENDS_IN_TREE": "1"}
_POINTER = re.compile(r"\.value_kind: +global_buffer$", re.M)
_DIAGNOSTIC = re.compile(rf"{re.escape(SOURCE)}\"?:(\d+):\d+\)?: error: (.*)")
_MISSING = (
    "Triton kernels need the package triton, which is not installed here; install this project's extra: "
    ".venv/bin/pip install -e '.[triton]'"
)


@dataclass(frozen=True)
class TritonKernel:
    """One specialisation, compiled."""

    compilation: Compilation
    lds_bytes: int = 0  # dynamic, asked for at launch
    kept: tuple[int, ...] = ()  # the plan's arguments that the code takes; the others became constants
    notes: tuple[tuple[int, str], ...] = ()  # line, and what was left out there


class TritonCompiler:
    """Compiles for one target. Safe for threads."""

    def __init__(self, toolchain: Toolchain, cache: Path, target: Target, limits: ProcessLimits = LIMITS) -> None:
        """`toolchain` gives the cage; `cache` may be shared by any number of processes."""
        self._toolchain, self._cache, self._target, self._limits = toolchain, cache.resolve(), target, limits

    def compile(self, candidate: Candidate, job: TritonJob) -> TritonKernel:
        """The kernel of a job; ToolchainError where Triton is not installed."""
        stored = self._path(candidate, job)
        if known := _load(stored):
            return known
        started = time.monotonic()
        work = self._cache / "work"
        try:
            work.mkdir(parents=True, exist_ok=True)
            folder = scratch_folder.make_in(work)
            try:
                made = self._compiled(candidate, job, folder)
            finally:
                scratch_folder.remove(folder)
            made = replace(made, compilation=replace(made.compilation, seconds=time.monotonic() - started))
            if made.compilation.is_final:
                stored.parent.mkdir(parents=True, exist_ok=True)
                write_whole(stored, dumps(made).encode())
            return made
        except (UnusableOutput, *UNREADABLE) as error:
            raise NoAnswer(f"Triton's compiler left nothing that can be read ({error})") from None
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self._cache} cannot be used ({error.strerror})") from None

    def _compiled(self, candidate: Candidate, job: TritonJob, folder: Path) -> TritonKernel:
        done = self._run(candidate, job, folder)
        if done.returncode != 0 or done.timed_out:
            return TritonKernel(_ended(done))
        reply = decoded(read_output(folder / REPLY, _MOST_REPLY))
        if error := reply.get("error"):
            return TritonKernel(_refused(str(error), reply.get("line"), done))
        return self._read(job, reply, folder, done)

    def _run(self, candidate: Candidate, job: TritonJob, folder: Path) -> Completed:
        view, argv = python_child(("triton", "sandbox"), "sandbox.guests.triton_child")
        (folder / TAKEN).mkdir()  # the child may make none
        (folder / SOURCE).write_text(candidate.source, encoding="utf-8")
        (folder / REQUEST).write_text(json.dumps(job.request(self._target.arch)), encoding="utf-8")
        homes = {name: str(folder) for name in ("HOME", "TMPDIR", "TRITON_HOME", "TRITON_CACHE_DIR")}
        return run(
            argv,
            cwd=folder,
            env={**ENVIRONMENT, **_SETTINGS, **homes},
            limits=self._limits,
            cage=self._toolchain.cage,
            view=view.with_folder(folder),
        )

    def _read(self, job: TritonJob, reply: dict[str, Any], folder: Path, done: Completed) -> TritonKernel:
        text = read_output(folder / LISTING)
        if len(text) > MAX_LISTING:
            much = "the compiled code is larger than 16 MiB of assembly; use smaller blocks"
            return TritonKernel(Compilation(False, (refusal(much),)))
        listing = text.decode("utf-8", errors="replace").replace(str(folder / TAKEN), ".").replace(str(folder), ".")
        if found := listing_findings(listing, SOURCE):
            return TritonKernel(Compilation(False, found))
        listing = _with_nulls(listing, int(reply["nulls"]))
        kernels = kernels_in(listing, SOURCE)
        if [k.name for k in kernels] != [job.kernel]:
            return TritonKernel(Compilation(False, (refusal(f"Triton's compiler gave no code for {job.kernel}"),)))
        resources = tuple(
            replace(each, lds_bytes=each.lds_bytes + int(reply["lds_bytes"]))
            for each in resources_of(kernels, self._target)
        )
        made = Compilation(True, (), kernels, resources, "", listing, readable(done.stderr), cpu_s=done.cpu_s)
        kept = tuple(int(number) for number in reply["kept"])
        notes = tuple((int(line), str(said)) for line, said in reply["notes"])
        return TritonKernel(made, int(reply["lds_bytes"]), kept, notes)

    def _path(self, candidate: Candidate, job: TritonJob) -> Path:
        """The place of a stored kernel: the text of a plan is no part of its name, the number of its lines is."""
        plan, mark, code = candidate.source.partition(CLOSE)
        parts = [FORMAT, _programs(), installed_version(), self._target.arch, plan.count("\n"), mark + code, job]
        key = hashlib.sha256(dumps(parts).encode()).hexdigest()
        return self._cache / "triton" / key[:2] / f"{key}.json"


@cache
def _programs() -> str:
    """SHA-256 of the child's own text, on which a listing depends."""
    texts = (Path(file).read_bytes() for file in (triton_child.__file__, triton_source.__file__))
    return hashlib.sha256(b"".join(texts)).hexdigest()


def installed_version() -> str:
    """Triton's version here; ToolchainError says how to install it."""
    if importlib.util.find_spec("triton") is None:
        raise ToolchainError(_MISSING)
    return metadata.version("triton")


def _with_nulls(listing: str, nulls: int) -> str:
    """The listing whose last explicit arguments, of which no plan knows, are hidden ones that are null."""
    metadata = listing.rfind(".amdgpu_metadata")
    places = [match.span() for match in _POINTER.finditer(listing, max(0, metadata))]
    for begin, end in reversed(places[max(0, len(places) - nulls) :]):
        listing = f"{listing[:begin]}.value_kind:     hidden_none{listing[end:]}"
    return listing


def _ended(done: Completed) -> Compilation:
    """The compilation of a child that left no reply: the compiler said an error of its own, or met a limit."""
    ending = ending_of(done)
    if found := _DIAGNOSTIC.search(done.stderr):
        return _refused(f"Triton's compiler refuses the kernel: {found[2]}", int(found[1]), done)
    if ending and ending.cause != "silent":
        finding = ending.finding("Triton compiler")
    else:
        lines = [line for line in readable(done.stderr).split("\n") if line.strip()]
        finding = refusal(f"Triton's compiler failed: {lines[-1].strip()[:300] if lines else 'it gave no message'}")
    return Compilation(False, (finding,), diagnostics=readable(done.stderr), is_final=ending is None)


def _refused(said: str, line: int | None, done: Completed) -> Compilation:
    """A refusal at a line; passes of the compiler name the line on standard error only."""
    diagnostic = _DIAGNOSTIC.search(done.stderr)
    if diagnostic:
        line = line or int(diagnostic[1])
        said = f"{said.partition(': ')[0]}: {diagnostic[2]}"
    finding: Finding = refusal(said, line)
    return Compilation(False, (finding,), diagnostics=readable(done.stderr))


def _load(path: Path) -> TritonKernel | None:
    try:
        return loads(TritonKernel, path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None  # not compiled yet, or written by another version
