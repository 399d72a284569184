"""Compile a candidate for the target for real: listing, code object, registers, LDS, scratch, instruction mix.

    candidate.hip --clang -S--> candidate.s --clang -c--> candidate.o --ld.lld -shared--> code object

What keeps the compiler from being a way out of the sandbox: every flag is ours and tunables are integers; the front end
sees a virtual file system that holds the candidate, our headers and clang's own and nothing else, so `#include`,
`__has_include`, `#embed`, `#pragma dependency` and their spellings find no other file; the assembler's file directives
(`.incbin`, `.include`) and the macros that could spell them are refused in the listing before it is assembled; the
linker takes no libraries, no dependent-library notes and no undefined symbol. The object is never loaded here. Each run
runs in a cage (`sandbox/cage`): its own folder as working and temporary directory, the headers and nothing else to
read, no network, no other process, limits, a deadline. So a bug of the compiler itself gets no further than its folder.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from records import scratch_folder
from records.codec import dumps, loads
from records.computed_once import computed_once
from records.errors import NoAnswer, ToolchainError, UsageError
from records.evaluation import Finding, Resources
from records.files import write_whole
from sandbox.amdgcn.build_budget import BuildBudget
from sandbox.amdgcn.front_end import LIMITS, FrontEnd, Tools, begins_with_header, header_digests
from sandbox.amdgcn.listing import ListedKernel, kernels_in, plain_listing
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cache_use import use
from sandbox.cage.output import UNREADABLE, UnusableOutput, read_output
from sandbox.candidate.code_identity import code_id
from sandbox.candidate.diagnostics import (
    ASSEMBLY,
    SOURCE,
    assembler_findings,
    compiler_findings,
    ending_of,
    linker_findings,
    listing_findings,
    named_findings,
    readable,
    refusal,
    without_kernel,
)
from sandbox.candidate.header_names import header_words
from sandbox.candidate.instances import appended, is_plain, launches_with, macros, read_symbols
from sandbox.candidate.limits import resources_of
from sandbox.candidate.plan import Candidate
from sandbox.evidence import Evidence
from sandbox.process import Completed, ProcessLimits
from sandbox.target import Target

FORMAT = "8"  # raise it when a stored compilation would be read differently
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
    "-D__HIP_PLATFORM_AMD__=1",
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
    "-Wno-register",
    "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
    "-Wno-unused-function",
    "-Wno-unknown-pragmas",
    "-Wno-pass-failed",
    "-Wno-unused-local-typedef",
    "-Wno-sign-compare",
    "-Werror=date-time",
)
_ASSEMBLE = ("-target", "amdgcn-amd-amdhsa")
_LINK = ("-shared", "--no-undefined", "--no-dependent-libraries", "--strip-debug", "--color-diagnostics=never")


@dataclass(frozen=True)
class Compilation:
    """The result of one compilation; `ok` means that there is a listing, and then there are no findings."""

    ok: bool
    findings: tuple[Finding, ...] = ()
    kernels: tuple[ListedKernel, ...] = ()
    resources: tuple[Resources, ...] = ()  # waves for the largest block each kernel allows; see limits.resources_of
    code_object: str = ""  # SHA-256 of the code object without debug information; "" where none was asked for
    listing: str = ""  # assembly text
    diagnostics: str = ""  # warnings and errors as clang prints them, with carets; at most 64 KiB
    seconds: float = 0.0
    cpu_s: float = 0.0  # processor time of the tools and of reading what they wrote, when it was made
    is_final: bool = True  # False where this machine's limits ended a tool: not stored, the next try may succeed


class Compiler:
    """Compiles candidates for one target and remembers what it compiled, by content."""

    def __init__(
        self,
        toolchain: Toolchain,
        cache: Path,
        target: Target,
        evidence: Evidence | None = None,
        limits: ProcessLimits = LIMITS,
    ) -> None:
        """`cache` may be shared by any number of compilers and processes; `evidence` keeps the first one's files.

        `limits` are for each tool.
        """
        if target.vendor != "amd":
            raise UsageError(f"this compiler builds for AMD GPUs; {target.name} needs a machine with its own compiler")
        self.toolchain = toolchain
        self.target = target
        self.evidence = evidence
        self.cache = cache.resolve()  # the virtual file system needs paths without links
        use(self.cache)
        self._front_end = FrontEnd(
            Tools(toolchain, evidence, limits), self.cache, (*FLAGS, f"--offload-arch={target.arch}")
        )

    def compile(self, candidate: Candidate, tunables: Mapping[str, int], *, is_assembled: bool = True) -> Compilation:
        """Compile with these tunables as macros; ToolchainError when the machine, not the candidate, is at fault.

        Without assembling there is a listing and no code object, which is enough to rank by time.
        """
        started = time.monotonic()
        stored = self._path(self._key(candidate, tunables))
        evidence_folder = self.evidence.once("gpu") if self.evidence else None
        earlier = _load(stored) if evidence_folder is None else None
        if earlier is not None and (not earlier.ok or not is_assembled or self._has_object(earlier)):
            return replace(earlier, seconds=time.monotonic() - started)
        try:
            for folder in (stored.parent, *(self.cache / name for name in ("objects", "assembled", "work"))):
                folder.mkdir(parents=True, exist_ok=True)
            work = evidence_folder or scratch_folder.make_in(self.cache / "work")
            try:
                budget = BuildBudget(spent_s=earlier.cpu_s if earlier else 0.0)
                compilation = earlier or self._build(candidate, tunables, work, budget)
                if compilation.ok and is_assembled:
                    compilation = self._assembled(self._front_end.within(budget).tools, work, compilation)
                result = replace(compilation, seconds=time.monotonic() - started, cpu_s=budget.spent_s)
                if result.is_final:
                    write_whole(stored, dumps(result).encode())
                return result
            finally:
                if evidence_folder is None:
                    scratch_folder.remove(work)
        except (UnusableOutput, *UNREADABLE) as error:
            raise NoAnswer(f"the compiler left nothing that can be read ({error})") from None
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self.cache} cannot be used ({error.strerror})") from None

    def stored(self, candidate: Candidate, tunables: Mapping[str, int]) -> Compilation | None:
        """Look up the compilation of an earlier time, or None; nothing is run."""
        return _load(self._path(self._key(candidate, tunables)))

    def warm(self) -> None:
        """Make what every compilation needs; the first one makes it otherwise."""
        try:
            self._front_end.warm()
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self.cache} cannot be used ({error.strerror})") from None

    def code_object_path(self, digest: str) -> Path:
        """Return the path of the code object with this digest."""
        return self.cache / "objects" / f"{digest}.co"

    def _has_object(self, compilation: Compilation) -> bool:
        return bool(compilation.code_object) and self.code_object_path(compilation.code_object).is_file()

    def _build(self, candidate: Candidate, tunables: Mapping[str, int], work: Path, budget: BuildBudget) -> Compilation:
        definitions = macros(candidate.source, tunables)
        words = [f"-D{name}={value}" for name, value in definitions.items()]
        # A macro that the header uses would change what it means; no plan may have one.
        prefixed = begins_with_header(candidate.source) and header_words().isdisjoint(definitions)
        launches = launches_with(candidate.plan.launches, tunables)
        source = candidate.source + appended(launches, SOURCE, is_symbol=True)
        front_end = self._front_end.within(budget)
        completed = front_end.run(work, source, source if prefixed else None, *words, SOURCE, "-o", ASSEMBLY)
        diagnostics = readable(completed.stderr)
        if completed.returncode != 0:
            lines = {launch.line: launch.kernel for launch in launches if not is_plain(launch.kernel)}
            return _failed(
                completed, named_findings(compiler_findings(completed, candidate.source), lines), diagnostics
            )
        assembly = work / ASSEMBLY
        text = read_output(assembly)
        if len(text) > MAX_LISTING:
            much = "the compiled code is larger than 16 MiB of assembly; unroll less or use smaller tables"
            return Compilation(False, (refusal(much),), diagnostics=diagnostics)
        listing, symbols = read_symbols(text.decode("utf-8", errors="replace"), launches)
        if refused := listing_findings(listing):
            return Compilation(False, refused, diagnostics=diagnostics)
        names = {symbol: name for name, symbol in symbols.items()}
        kernels = tuple(replace(k, name=names.get(k.symbol, k.name)) for k in kernels_in(listing, SOURCE))
        if not kernels:
            return Compilation(False, (without_kernel(source),), diagnostics=diagnostics)
        return Compilation(True, (), kernels, resources_of(kernels, self.target), "", listing, diagnostics)

    def _assembled(self, tools: Tools, work: Path, compilation: Compilation) -> Compilation:
        """Add the code object to a compilation; the same listing gives it again."""
        listing, diagnostics = compilation.listing, compilation.diagnostics
        parts = [_ASSEMBLE, _LINK, self.target.arch, self.toolchain.version, plain_listing(listing)]
        digest_file = self.cache / "assembled" / hashlib.sha256(dumps(parts).encode()).hexdigest()
        if digest_file.is_file() and not self.evidence:
            digest = digest_file.read_text(encoding="ascii")
            if self.code_object_path(digest).is_file():
                return replace(compilation, code_object=digest)
        if not (work / ASSEMBLY).is_file():
            (work / ASSEMBLY).write_text(listing, encoding="utf-8")
        arch = f"-mcpu={self.target.arch}"
        completed = tools.run(work, "clang", *_ASSEMBLE, arch, "-c", ASSEMBLY, "-o", "candidate.o")
        if completed.returncode != 0:
            return _failed(
                completed, assembler_findings(completed, listing), readable(diagnostics + "\n" + completed.stderr)
            )
        completed = tools.run(work, "ld.lld", *_LINK, "candidate.o", "-o", "candidate.co")
        if completed.returncode != 0:
            return _failed(completed, linker_findings(completed), readable(diagnostics + "\n" + completed.stderr))
        image = read_output(work / "candidate.co")
        digest = hashlib.sha256(image).hexdigest()
        write_whole(self.code_object_path(digest), image)
        write_whole(digest_file, digest.encode())
        return replace(compilation, code_object=digest)

    @computed_once
    def identity(self) -> str:
        """Hash everything but the candidate by SHA-256: flags, headers, compiler, target."""
        headers = [list(row) for row in header_digests()]
        parts = [FORMAT, FLAGS, headers, self.toolchain.version, self.target.arch, dict(self.target.limits)]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def _key(self, candidate: Candidate, tunables: Mapping[str, int]) -> str:
        behind = appended(launches_with(candidate.plan.launches, tunables), SOURCE, is_symbol=True)
        parts = [self.identity, code_id(candidate.source), dict(tunables), *([behind] if behind else [])]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def _path(self, key: str) -> Path:
        return self.cache / "compiled" / key[:2] / f"{key}.json"


def _failed(completed: Completed, findings: tuple[Finding, ...], diagnostics: str) -> Compilation:
    return Compilation(False, findings, diagnostics=diagnostics, is_final=ending_of(completed) is None)


def _load(path: Path) -> Compilation | None:
    try:
        compilation = loads(Compilation, path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None  # not compiled yet, or written by another version: compile again
    return compilation if all(f.code for f in compilation.findings) else None  # written before findings had codes
