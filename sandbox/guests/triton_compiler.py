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
        """Compile the kernel of a job; ToolchainError where Triton is not installed."""
        stored = self._path(candidate, job)
        if stored_kernel := _load(stored):
            return stored_kernel
        started = time.monotonic()
        work = self._cache / "work"
        try:
            work.mkdir(parents=True, exist_ok=True)
            folder = scratch_folder.make_in(work)
            try:
                kernel = self._compiled(candidate, job, folder)
            finally:
                scratch_folder.remove(folder)
            kernel = replace(kernel, compilation=replace(kernel.compilation, seconds=time.monotonic() - started))
            if kernel.compilation.is_final:
                stored.parent.mkdir(parents=True, exist_ok=True)
                write_whole(stored, dumps(kernel).encode())
            return kernel
        except (UnusableOutput, *UNREADABLE) as error:
            raise NoAnswer(f"Triton's compiler left nothing that can be read ({error})") from None
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self._cache} cannot be used ({error.strerror})") from None

    def _compiled(self, candidate: Candidate, job: TritonJob, folder: Path) -> TritonKernel:
        completed = self._run(candidate, job, folder)
        if completed.returncode != 0 or completed.timed_out:
            return TritonKernel(_ended(completed))
        reply = decoded(read_output(folder / REPLY, _MOST_REPLY))
        if error := reply.get("error"):
            return TritonKernel(_refused(str(error), reply.get("line"), completed))
        return self._read(job, reply, folder, completed)

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
            stop=self._toolchain.stop,
        )

    def _read(self, job: TritonJob, reply: dict[str, Any], folder: Path, completed: Completed) -> TritonKernel:
        text = read_output(folder / LISTING)
        if len(text) > MAX_LISTING:
            much = "the compiled code is larger than 16 MiB of assembly; use smaller blocks"
            return TritonKernel(Compilation(False, (refusal(much),)))
        listing = text.decode("utf-8", errors="replace").replace(str(folder / TAKEN), ".").replace(str(folder), ".")
        if findings := listing_findings(listing, SOURCE):
            return TritonKernel(Compilation(False, findings))
        listing = _with_nulls(listing, int(reply["nulls"]))
        kernels = kernels_in(listing, SOURCE)
        if [k.name for k in kernels] != [job.kernel]:
            return TritonKernel(Compilation(False, (refusal(f"Triton's compiler gave no code for {job.kernel}"),)))
        resources = tuple(
            replace(kernel_resources, lds_bytes=kernel_resources.lds_bytes + int(reply["lds_bytes"]))
            for kernel_resources in resources_of(kernels, self._target)
        )
        compilation = Compilation(
            True, (), kernels, resources, "", listing, readable(completed.stderr), cpu_s=completed.cpu_s
        )
        positions = tuple(int(number) for number in reply["kept"])
        notes = tuple((int(line), str(note)) for line, note in reply["notes"])
        return TritonKernel(compilation, int(reply["lds_bytes"]), positions, notes)

    def _path(self, candidate: Candidate, job: TritonJob) -> Path:
        """Return the path of a stored kernel: of a plan it depends on the number of lines only, not on the text."""
        plan, mark, code = candidate.source.partition(CLOSE)
        parts = [FORMAT, _programs(), installed_version(), self._target.arch, plan.count("\n"), mark + code, job]
        key = hashlib.sha256(dumps(parts).encode()).hexdigest()
        return self._cache / "triton" / key[:2] / f"{key}.json"


@cache
def _programs() -> str:
    """Hash the child's own text, on which a listing depends, by SHA-256."""
    texts = (Path(file).read_bytes() for file in (triton_child.__file__, triton_source.__file__))
    return hashlib.sha256(b"".join(texts)).hexdigest()


def installed_version() -> str:
    """Return Triton's version here; ToolchainError says how to install it."""
    if importlib.util.find_spec("triton") is None:
        raise ToolchainError(_MISSING)
    return metadata.version("triton")


def _with_nulls(listing: str, nulls: int) -> str:
    """Hide the last explicit arguments of a listing, of which no plan knows, and make them null."""
    metadata = listing.rfind(".amdgpu_metadata")
    spans = [match.span() for match in _POINTER.finditer(listing, max(0, metadata))]
    for begin, end in reversed(spans[max(0, len(spans) - nulls) :]):
        listing = f"{listing[:begin]}.value_kind:     hidden_none{listing[end:]}"
    return listing


def _ended(completed: Completed) -> Compilation:
    """Explain a child that left no reply: the compiler said an error of its own, or met a limit."""
    ending = ending_of(completed)
    if diagnostic := _DIAGNOSTIC.search(completed.stderr):
        return _refused(f"Triton's compiler refuses the kernel: {diagnostic[2]}", int(diagnostic[1]), completed)
    if ending and ending.cause != "silent":
        finding = ending.finding("Triton compiler")
    else:
        lines = [line for line in readable(completed.stderr).split("\n") if line.strip()]
        finding = refusal(f"Triton's compiler failed: {lines[-1].strip()[:300] if lines else 'it gave no message'}")
    return Compilation(False, (finding,), diagnostics=readable(completed.stderr), is_final=ending is None)


def _refused(message: str, line: int | None, completed: Completed) -> Compilation:
    """Refuse at a line; passes of the compiler name the line on standard error only."""
    diagnostic = _DIAGNOSTIC.search(completed.stderr)
    if diagnostic:
        line = line or int(diagnostic[1])
        message = f"{message.partition(': ')[0]}: {diagnostic[2]}"
    finding: Finding = refusal(message, line)
    return Compilation(False, (finding,), diagnostics=readable(completed.stderr))


def _load(path: Path) -> TritonKernel | None:
    try:
        return loads(TritonKernel, path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None  # not compiled yet, or written by another version
