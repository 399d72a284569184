"""The process that a vendor's compiler runs in: takes sources from a socket, gives images back.

Around the compiler, before the first source arrives: an environment of nothing but its own folder and settings of the
C library, limits on memory, file size and, for each source, CPU time, and where the kernel has Landlock no file but the
system's libraries and programs can be read and none but those of its own folder written, and a filter of system calls:
no socket, no tracing, and no other program but where the compiler is one that starts others. A source that crashes the
compiler ends this process and harms nothing else; see `compile_pool.py`.
"""

from __future__ import annotations

import base64
import os
import resource
import socket
import tempfile
from pathlib import Path
from typing import Any, Protocol

from records.errors import ToolchainError
from sandbox.cage.landlock import restrict
from sandbox.cage.view import View
from sandbox.gpu.child_channel import ChildChannel, Closed, Malformed
from sandbox.gpu.compile import hiprtc, nvrtc
from sandbox.gpu.compile.compile_messages import CompilerMissing, Description, Job, JobReply
from sandbox.gpu.compile.nvrtc import Compiled
from sandbox.gpu.fence import refuse_compilers_calls

DATA_BYTES = 8 << 30
FILE_BYTES = 256 << 20
PROGRAMS = ("nvcc", "hipcc")
MAX_LOG = 128 << 10
READABLE = ("/usr", "/lib", "/lib64", "/bin", "/opt/rocm", "/dev/urandom", "/sys/devices/system/cpu")


class SourceCompiler(Protocol):
    """The face that the four compilers have in common."""

    def version(self) -> str:
        """Return the version in numbers."""

    def compile(
        self, source: str, name: str, arch: str, options: list[str], headers: dict[str, str], names: list[str]
    ) -> Compiled:
        """Compile one file for `arch`; name the symbols of these kernels."""


def main(number: int, vendor: str, library: str) -> int:
    """Serve on the socket with this number until the other side closes it. `library` "" is the usual one."""
    channel = ChildChannel(socket.socket(fileno=number))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    _limit()
    try:
        compiler, folder = open_compiler(vendor, library)
        kind, build = type(compiler).__name__.lower(), _build()
        include = _toolkit_headers(folder) if kind == "nvrtc" else ""
        version, fenced = compiler.version(), _fence(folder)
        filtered = refuse_compilers_calls(kind in PROGRAMS)
        channel.send(Description(f"{kind} {version}", kind, fenced, include, build, filtered))
        while True:
            job, _ = channel.receive((Job,))
            channel.send(_answer(compiler, job))
    except ToolchainError as error:
        channel.send(CompilerMissing(str(error)))
    except (Closed, Malformed):
        pass
    return 0


def open_compiler(vendor: str, library: str = "") -> tuple[SourceCompiler, Path | None]:
    """Open a vendor's compiler; return it and the folder that it lies in, if known. ToolchainError without any."""
    compiler: Any
    if vendor == "amd":
        compiler = hiprtc.Hiprtc(library) if library else hiprtc.find_compiler()
    else:
        compiler = nvrtc.Nvrtc(library) if library else nvrtc.find_compiler()
    return compiler, compiler.folder


def _toolkit_headers(folder: Path | None) -> str:
    """Find the folder of CUDA's own headers: beside the library, else in the usual place; "" when nowhere."""
    candidates = [*((folder.parent / "include",) if folder else ()), Path("/usr/local/cuda/include")]
    return next((str(candidate) for candidate in candidates if (candidate / "cuda_fp16.h").is_file()), "")


def _build() -> str:
    """Mark the library's build beside its version: by the size of its file."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    paths = {line.split()[-1] for line in maps.split("\n") if "libnvrtc.so" in line or "libhiprtc.so" in line}
    return ",".join(str(Path(path).stat().st_size) for path in sorted(paths) if Path(path).is_file())


def _answer(compiler: SourceCompiler, job: Job) -> JobReply:
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + job.cpu_s, resource.RLIM_INFINITY))
    try:
        compiled = compiler.compile(
            job.source, job.name, job.arch, list(job.options), dict(job.headers), list(job.names)
        )
    except MemoryError:
        os._exit(1)  # as if the compiler itself had run out of it
    image = base64.b64encode(compiled.image).decode() if compiled.image is not None else None
    return JobReply(image, compiled.log[:MAX_LOG], dict(compiled.symbols))


def _limit() -> None:
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_DATA, DATA_BYTES),
    ):
        hard = resource.getrlimit(kind)[1]
        top = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (top, top))


def _fence(folder: Path | None) -> bool:
    """Forbid this process and its children all files but those needed; False where the kernel cannot do it."""
    libraries = [Path(path) for path in READABLE] + ([folder.parent] if folder else [])
    return restrict(View(executable=tuple(libraries), writable=(Path(tempfile.gettempdir()),)))
