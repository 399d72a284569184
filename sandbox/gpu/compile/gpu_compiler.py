"""A candidate's source to an image for a real GPU: NVRTC or nvcc, hipRTC or hipcc, in a process of their own.

What a source may read is decided before any compiler sees it (`includes.py`); what it may do to the compiler is
bounded by the process (`compile_pool.py`). Results are kept by content, refusals included, unless this machine's
limits decided.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from records.codec import dumps, loads
from records.computed_once import computed_once
from records.errors import ToolchainError
from records.evaluation import Finding
from records.files import write_whole
from sandbox.cache_use import use
from sandbox.candidate.diagnostics import (
    MAX_FINDINGS,
    SOURCE,
    code_of_error,
    compiler_findings,
    ending_of,
    readable,
    refusal,
    without_kernel,
)
from sandbox.candidate.instances import expressions, launches_with, macros, step_kernels
from sandbox.candidate.kernel import KernelArgument, KernelMetadata
from sandbox.candidate.limits import check_arguments
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import BufferArg, NullArg, ResolvedPlan
from sandbox.gpu.compile.compile_messages import Description, Job
from sandbox.gpu.compile.compile_pool import CompilePool, CompileReply
from sandbox.gpu.compile.dialect import dialect_of, spell
from sandbox.gpu.compile.images import ImageKernel, read_image
from sandbox.gpu.compile.includes import refusals
from sandbox.process import Completed, clean
from sandbox.target import Target

__all__ = ["DeviceBuild", "GpuCompiler", "ImageKernel"]

FORMAT = "3"  # raise it when a stored build would be read differently
DEADLINE_S = 60.0
LARGEST_BLOCK = 1024
_NVIDIA = re.compile(
    rf"^(?:{re.escape(SOURCE)}\((?P<line>\d+)\)|\S+\(\d+\)): (?:catastrophic )?error(?: #[\w-]+)?: "
    r"(?P<text>.*)$",
    re.M,
)
_PTXAS = re.compile(r"^(?:ptxas|nvlink)\b.*?\b(?:error|fatal)\s*: (?P<text>.*)$", re.M)
VARIABLE_BYTES = 256 << 20  # of all device variables of a candidate
_NO_DEVICE = "functions are not allowed in JIT mode"
_PLACE = re.compile(rf"(?:/[^\s:()]*)?/{re.escape(SOURCE)}\b")


@dataclass(frozen=True)
class DeviceBuild:
    """The result of one compilation: findings, or an image and its own description."""

    findings: tuple[Finding, ...] = ()  # with the candidate's own lines; empty when it compiled
    image: bytes = field(default=b"", repr=False)
    digest: str = ""  # SHA-256 of the image
    kernels: tuple[ImageKernel, ...] = ()
    globals: tuple[tuple[str, int], ...] = ()  # variables that keep state between launches: symbol, bytes
    hidden_bytes: int = 0  # of such variables that the driver cannot find by name: only a new load resets them
    diagnostics: str = ""  # at most 64 KiB
    seconds: float = 0.0
    is_final: bool = True  # False where this machine's limits decided: not stored, the next try may succeed

    def metadata(self, plan: ResolvedPlan | None = None) -> tuple[KernelMetadata, ...]:
        """Describe the kernels in the form that the plan's checks and the resources are made from.

        A cubin does not state which of its 8-byte parameters are pointers: those to which `plan` passes buffers.
        """
        return tuple(
            KernelMetadata(
                k.name,
                k.symbol,
                _arguments(k, plan),
                k.registers,
                0,
                0,
                k.shared_bytes,
                k.local_bytes,
                k.max_threads or LARGEST_BLOCK,
                max_grid=k.max_grid,
            )
            for k in self.kernels
        )

    def check_arguments(self, plan: ResolvedPlan) -> tuple[Finding, ...]:
        """Report every launch whose arguments do not match the kernel's own, by one finding each; empty when all do."""
        return tuple(
            dict.fromkeys(
                f
                for launch in plan.launches
                for single in (replace(plan, launches=(launch,)),)
                for f in check_arguments(single, self.metadata(single))
            )
        )

    def check_variables(self) -> tuple[Finding, ...]:
        """Report variables, which are reset before each call, that take more than a candidate may have."""
        nbytes = sum(size for _, size in self.globals) + self.hidden_bytes
        if nbytes <= VARIABLE_BYTES:
            return ()
        message = f"the device variables take {nbytes} bytes; at most 256 MiB: use a workspace for more"
        return (Finding("over_limit", message),)


class GpuCompiler:
    """Compiles candidates for one target's vendor; safe from several threads."""

    def __init__(
        self,
        target: Target,
        cache: Path,
        workers: int = 1,
        *,
        runtime_library: str | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """`cache` may be shared by any number of processes; `runtime_library` is opened instead of the usual one."""
        self.target = target
        use(cache.resolve())
        self._cache = cache.resolve() / "device"
        self._deadline_s = deadline_s
        self._pool = CompilePool(target.vendor, self._cache / "work", workers, runtime_library or "")
        self._threads = ThreadPoolExecutor(workers, "compile")

    @property
    def version(self) -> str:
        """Such as "nvrtc 13.0". ToolchainError when there is no compiler."""
        return self.description.version

    @computed_once
    def description(self) -> Description:
        """Ask for the compiler, its kind, and whether the kernel fences its files."""
        return self._pool.describe()

    def compile(self, candidate: Candidate, tunables: Mapping[str, int]) -> DeviceBuild:
        """Compile with these tunables as macros; ToolchainError when the machine, not the candidate, is at fault."""
        started = time.monotonic()
        key = hashlib.sha256(dumps([self.identity, candidate.id, dict(tunables)]).encode()).hexdigest()
        stored = self._cache / "compiled" / key[:2] / f"{key}.json"
        build = self._load(stored)
        if build is None:
            build = self._build(candidate, tunables)
            if build.is_final:
                self._store(stored, build)
        return replace(build, seconds=time.monotonic() - started)

    def submit(self, candidate: Candidate, tunables: Mapping[str, int]) -> Future[DeviceBuild]:
        """Compile in the background."""
        return self._threads.submit(self.compile, candidate, tunables)

    def close(self) -> None:
        """End the compiler's processes; waits for those at work."""
        self._threads.shutdown(cancel_futures=True)
        self._pool.close()

    @computed_once
    def identity(self) -> str:
        """Hash everything but the candidate by SHA-256: compiler, headers, options, target."""
        about, dialect = self.description, dialect_of(self.description.kind)
        parts = [
            FORMAT,
            about.version,
            about.build,
            about.include,
            dialect.headers,
            dialect.options,
            dialect.rescue,
            self.target.arch,
        ]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def _build(self, candidate: Candidate, tunables: Mapping[str, int]) -> DeviceBuild:
        kind, dialect = self.description.kind, dialect_of(self.description.kind)
        source = candidate.source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        if refused := refusals(source, dialect.includable, self.target.vendor == "amd"):
            return DeviceBuild(refused)
        launches = launches_with(candidate.plan.launches, tunables)
        if self.target.vendor != "amd" and (line := next((x.line for x in launches if x.writes_variable), 0)):
            message = "no kernel can write a constant of this GPU, so a plan's symbol works on AMD's alone"
            return DeviceBuild((refusal(message, line),))
        options = (
            *dialect.options,
            *(f"-D{name}={value}" for name, value in macros(candidate.source, tunables).items()),
            *((f"-I{self.description.include}{part}" for part in ("", "/cccl")) if self.description.include else ()),
        )
        text = spell(kind, source) + step_kernels(launches)
        job = Job(text, SOURCE, self.target.arch, options, dialect.headers, expressions(launches))
        reply = self._pool.compile(job, self._deadline_s)
        if dialect.rescue and reply.image is None and _NO_DEVICE in reply.log:  # it also makes constants variables
            reply = self._pool.compile(replace(job, options=(*options, *dialect.rescue)), self._deadline_s)
        diagnostics = readable(clean(_PLACE.sub(SOURCE, reply.log)))
        if reply.image is None:
            return _refused(reply, diagnostics, source)
        try:
            image = read_image(reply.image)
        except ValueError as error:
            finding = refusal(f"the compiler's output cannot be used: {error}")
            return DeviceBuild((finding,), diagnostics=diagnostics, is_final=False)
        if not image.kernels:
            return DeviceBuild((without_kernel(source),), diagnostics=diagnostics)
        digest = hashlib.sha256(reply.image).hexdigest()
        names = {symbol: name for name, symbol in reply.symbols.items()}
        kernels = tuple(replace(k, name=names.get(k.symbol, k.name)) for k in image.kernels)
        return DeviceBuild((), reply.image, digest, kernels, image.globals, image.hidden_bytes, diagnostics)

    def _load(self, stored: Path) -> DeviceBuild | None:
        try:
            build = loads(DeviceBuild, stored.read_text(encoding="utf-8"))
            image = (self._cache / "images" / build.digest).read_bytes() if build.digest else b""
        except (OSError, ValueError, TypeError):
            return None  # not compiled yet, or written by another version: compile again
        kernels = tuple(k if k.buffers is None else replace(k, buffers=tuple(k.buffers)) for k in build.kernels)
        return replace(build, image=image, kernels=kernels)

    def _store(self, stored: Path, build: DeviceBuild) -> None:
        try:
            if build.digest:
                write_whole(self._cache / "images" / build.digest, build.image)
            plain = {name: value for name, value in vars(build).items() if name != "image"}
            write_whole(stored, dumps(plain).encode())
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self._cache} cannot be used ({error.strerror})") from None


def _arguments(kernel: ImageKernel, plan: ResolvedPlan | None) -> tuple[KernelArgument, ...]:
    passed = next((x.args for x in plan.launches if x.kernel in (kernel.name, kernel.symbol)), ()) if plan else ()
    arguments, offset = [], 0
    for index, size in enumerate(kernel.parameter_bytes):
        if kernel.buffers is not None:
            buffer = kernel.buffers[index]
        else:
            buffer = size == 8 and index < len(passed) and isinstance(passed[index], (BufferArg, NullArg))
        offset = -(-offset // min(size, 8) if size else 1) * min(size or 1, 8)
        arguments.append(KernelArgument(buffer, offset, size))
        offset += size
    return tuple(arguments)


def _refused(reply: CompileReply, diagnostics: str, source: str) -> DeviceBuild:
    """Report a source for which the compiler gave no image: one finding an error, at least one."""
    if reply.ended:
        return DeviceBuild((reply.ended.finding("compiler"),), diagnostics=diagnostics, is_final=False)
    texts = [(m["text"].strip(), int(m["line"]) if m["line"] else None) for m in _NVIDIA.finditer(diagnostics)]
    findings = [refusal(text, line, code_of_error(text)) for text, line in texts]
    for match in _PTXAS.finditer(diagnostics):
        text = match["text"].strip()
        is_limit = "too much shared data" in text
        findings.append(Finding("over_limit", text) if is_limit else refusal(text, code=code_of_error(text)))
    if findings:
        return DeviceBuild(tuple(dict.fromkeys(findings))[:MAX_FINDINGS], diagnostics=diagnostics)
    completed = Completed(1, "", diagnostics, False, 0.0)
    return DeviceBuild(
        compiler_findings(completed, source), diagnostics=diagnostics, is_final=ending_of(completed) is None
    )
