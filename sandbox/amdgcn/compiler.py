"""Compile a candidate for the target for real: listing, code object, registers, LDS, scratch, instruction mix.

    candidate.hip --clang -S--> candidate.s --clang -c--> candidate.o --ld.lld -shared--> code object

What keeps the compiler from being a way out of the sandbox: every flag is ours and tunables are integers; the front end
sees a virtual file system that holds the candidate, our headers and clang's own and nothing else, so `#include`,
`__has_include`, `#embed`, `#pragma dependency` and their spellings find no other file; the assembler's file directives
(`.incbin`, `.include`) and the macros that could spell them are refused in the listing before it is assembled; the
linker takes no libraries, no dependent-library notes and no undefined symbol. The object is never loaded here. Each run
has its own folder as working and temporary directory, an empty environment, limits and a deadline. Not covered: bugs of
the compiler itself, which runs with this user's rights.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from records.codec import dumps, loads
from records.errors import ToolchainError, UsageError
from records.evaluation import Finding, Resources
from records.files import write_whole
from sandbox.amdgcn.listing import ListedKernel, kernels_in
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.diagnostics import (
    ASSEMBLY,
    SOURCE,
    assembler_findings,
    compiler_findings,
    ending_of,
    linker_findings,
    listing_findings,
    readable,
    refusal,
)
from sandbox.candidate.limits import resources_of
from sandbox.candidate.plan import Candidate
from sandbox.evidence import Evidence
from sandbox.process import Completed, ProcessLimits, run
from sandbox.target import Target

INCLUDE = Path(__file__).parents[1] / "include"
TIMEOUT_S = 60.0
LIMITS = ProcessLimits(cpu_s=60, memory_bytes=8 << 30, file_bytes=256 << 20)
FORMAT = "6"  # raise it when a stored compilation would be read differently
MAX_LISTING = 16 << 20
FLAGS = (
    "-x",
    "hip",
    "--cuda-device-only",
    "-nogpulib",
    "-nogpuinc",
    "-nostdinc",
    "-O3",
    "-std=c++20",
    "-S",
    "-gline-tables-only",
    "-fdebug-compilation-dir=.",
    "-fuse-cuid=none",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-crash-diagnostics",
    "-fno-color-diagnostics",
    "-ferror-limit=20",
    "-fmessage-length=0",
    "-ftemplate-depth=512",
    "-fconstexpr-steps=2000000",
    "-mllvm",
    "-amdgpu-early-inline-all=true",
    "-mllvm",
    "-amdgpu-function-calls=false",
    "-Wall",
    "-Wno-comment",
    "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
    "-Wno-unused-function",
    "-Wno-unknown-pragmas",
    "-Wno-pass-failed",
    "-Wno-unused-local-typedef",
    "-Wno-sign-compare",
    "-Werror=date-time",
)


@dataclass(frozen=True)
class Compilation:
    """The result of one compilation; `ok` means that there is a code object, and then there are no findings."""

    ok: bool
    findings: tuple[Finding, ...] = ()
    kernels: tuple[ListedKernel, ...] = ()
    resources: tuple[Resources, ...] = ()  # waves for the largest block each kernel allows; see limits.resources_of
    code_object: str = ""  # SHA-256 of the code object without debug information
    listing: str = ""  # assembly text
    diagnostics: str = ""  # warnings and errors as clang prints them, with carets; at most 64 KiB
    seconds: float = 0.0
    is_final: bool = True  # False where this machine's limits ended a tool: not stored, the next try may succeed


class Compiler:
    """Compiles candidates for one target and remembers what it compiled, by content."""

    def __init__(self, toolchain: Toolchain, cache: Path, target: Target, evidence: Evidence | None = None) -> None:
        """`cache` may be shared by any number of compilers and processes; `evidence` keeps the first one's files."""
        if target.vendor != "amd":
            raise UsageError(f"this compiler builds for AMD GPUs; {target.name} needs a machine with its own compiler")
        self.toolchain = toolchain
        self.target = target
        self.evidence = evidence
        self.cache = cache.resolve()  # the virtual file system needs paths without links

    def compile(self, candidate: Candidate, tunables: Mapping[str, int]) -> Compilation:
        """Compile with these tunables as macros; ToolchainError when the machine, not the candidate, is at fault."""
        started = time.monotonic()
        stored = self._path(self._key(candidate, tunables))
        kept = self.evidence.once("gpu") if self.evidence else None
        known = _load(stored) if kept is None else None
        if known is not None and (not known.ok or self.code_object_path(known.code_object).is_file()):
            return replace(known, seconds=time.monotonic() - started)
        try:
            for folder in (stored.parent, self.cache / "objects", self.cache / "work"):
                folder.mkdir(parents=True, exist_ok=True)
            work = kept or Path(tempfile.mkdtemp(dir=self.cache / "work"))
            try:
                result = replace(self._build(candidate, tunables, work), seconds=time.monotonic() - started)
                if result.is_final:
                    write_whole(stored, dumps(result).encode())
                return result
            finally:
                if kept is None:
                    shutil.rmtree(work, ignore_errors=True)
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self.cache} cannot be used ({error.strerror})") from None

    def code_object_path(self, digest: str) -> Path:
        """Path of the code object with this digest."""
        return self.cache / "objects" / f"{digest}.co"

    def _build(self, candidate: Candidate, tunables: Mapping[str, int], work: Path) -> Compilation:
        (work / SOURCE).write_text(candidate.source, encoding="utf-8")
        (work / "files.json").write_text(json.dumps(self._visible_files(work)), encoding="utf-8")
        macros = [f"-D{name}={value}" for name, value in tunables.items()]
        done = self._tool(
            work,
            "clang",
            *FLAGS,
            f"--offload-arch={self.target.arch}",
            "-ivfsoverlay",
            "files.json",
            "-isystem",
            "/include",
            "-isystem",
            "/clang",
            *macros,
            SOURCE,
            "-o",
            ASSEMBLY,
        )
        said = readable(done.stderr)
        if done.returncode != 0:
            found = compiler_findings(done, candidate.source)
            return Compilation(False, found, diagnostics=said, is_final=ending_of(done) is None)
        assembly = work / ASSEMBLY
        if assembly.stat().st_size > MAX_LISTING:
            return Compilation(
                False,
                (refusal("the compiled code is larger than 16 MiB of assembly; unroll less or use smaller tables"),),
                diagnostics=said,
            )
        listing = assembly.read_text(encoding="utf-8", errors="replace")
        if refused := listing_findings(listing):
            return Compilation(False, refused, diagnostics=said)
        done = self._tool(
            work,
            "clang",
            "-target",
            "amdgcn-amd-amdhsa",
            f"-mcpu={self.target.arch}",
            "-c",
            ASSEMBLY,
            "-o",
            "candidate.o",
        )
        if done.returncode != 0:
            said = readable(said + "\n" + done.stderr)
            found = assembler_findings(done, listing)
            return Compilation(False, found, diagnostics=said, is_final=ending_of(done) is None)
        done = self._tool(
            work,
            "ld.lld",
            "-shared",
            "--no-undefined",
            "--no-dependent-libraries",
            "--strip-debug",
            "--color-diagnostics=never",
            "candidate.o",
            "-o",
            "candidate.co",
        )
        if done.returncode != 0:
            said = readable(said + "\n" + done.stderr)
            return Compilation(False, linker_findings(done), diagnostics=said, is_final=ending_of(done) is None)
        return self._finish(work, listing, said)

    def _finish(self, work: Path, listing: str, said: str) -> Compilation:
        kernels = kernels_in(listing, SOURCE)
        if not kernels:
            return Compilation(False, (refusal("the file defines no __global__ function"),), diagnostics=said)
        image = (work / "candidate.co").read_bytes()
        digest = hashlib.sha256(image).hexdigest()
        write_whole(self.code_object_path(digest), image)
        return Compilation(True, (), kernels, resources_of(kernels, self.target), digest, listing, said)

    def _visible_files(self, work: Path) -> dict[str, object]:
        """The only files that the front end can open; every other path does not exist for it."""
        return {
            "version": 0,
            "redirecting-with": "redirect-only",
            "case-sensitive": True,
            "use-external-names": False,
            "roots": [
                {"name": str(work / SOURCE), "type": "file", "external-contents": str(work / SOURCE)},
                {"name": "/include", "type": "directory-remap", "external-contents": str(INCLUDE)},
                {"name": "/clang", "type": "directory-remap", "external-contents": str(self._clang_headers)},
            ],
        }

    def _tool(self, work: Path, tool: str, *args: str) -> Completed:
        environment = {**self.toolchain.environment(), "TMPDIR": str(work), "HOME": str(work)}
        argv = self.toolchain.command(tool, *args)
        done = run(argv, cwd=work, env=environment, timeout_s=TIMEOUT_S, limits=LIMITS, output_cap=2 * 65536)
        if self.evidence:
            self.evidence.command(work, argv, environment, done)
        return done

    @cached_property
    def _clang_headers(self) -> Path:
        folder = self.toolchain.zig.parent / "lib" / "include"
        if not (folder / "stddef.h").is_file():
            raise ToolchainError(f"clang's own headers are missing at {folder}; run ./kernel-scientist again")
        return folder

    @cached_property
    def identity(self) -> str:
        """SHA-256 of everything but the candidate: flags, headers, compiler, target."""
        files = sorted(path for path in INCLUDE.rglob("*") if path.is_file() and "ks_lab" not in str(path))
        headers = [(str(path.relative_to(INCLUDE)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
        parts = [FORMAT, FLAGS, headers, self.toolchain.version, self.target.arch, dict(self.target.limits)]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def _key(self, candidate: Candidate, tunables: Mapping[str, int]) -> str:
        return hashlib.sha256(dumps([self.identity, candidate.id, dict(tunables)]).encode()).hexdigest()

    def _path(self, key: str) -> Path:
        return self.cache / "compiled" / key[:2] / f"{key}.json"


def _load(path: Path) -> Compilation | None:
    try:
        known = loads(Compilation, path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None  # not compiled yet, or written by another version: compile again
    return known if all(f.code for f in known.findings) else None  # written before findings had codes
