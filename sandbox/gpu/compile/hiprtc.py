"""HIP source to a code object, in this process by hipRTC; hipcc where that library is missing.

Not run on a machine with ROCm yet: the calls follow hiprtc.h of ROCm 6 and 7. hipRTC has HIP's own headers built in and
includes them itself; the texts of other headers may not be empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from records.errors import ToolchainError
from sandbox.gpu.compile.rtc import Compiled, LibraryNames, Program, ProgramNames, RunTimeCompiler, open_library

_LIBRARIES = ("libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so")
_PLACES = ("hipcc", "/opt/rocm/bin/hipcc")
_VERSION = re.compile(r"HIP version: *(\S+)")
OPTIONS = (
    "-std=c++20",
    "-ffp-contract=fast-honor-pragmas",
    "-fno-exceptions",
    "-Wno-unused-command-line-argument",
    "-ftemplate-depth=512",
    "-fconstexpr-steps=10000000",
    "-ferror-limit=20",
    "-fmessage-length=0",
)
_NAMES = LibraryNames("hipRTC", "hiprtc", "Code", "--offload-arch", OPTIONS, "reinstall ROCm")


class Hiprtc(RunTimeCompiler):
    """The run-time compiler, opened once."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no libhiprtc."""
        paths = [path] if path else _LIBRARIES
        super().__init__(open_library(paths, "libhiprtc is not installed here; install ROCm"), _NAMES)


class Hipcc(Program):
    """ROCm's compiler as a process: the fall-back. It has ROCm's own headers."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no hipcc."""
        missing, remedy = "there is neither libhiprtc nor hipcc here; install ROCm", "reinstall ROCm"
        super().__init__(ProgramNames("hipcc", _PLACES, _words, _VERSION, missing, remedy, "install hipRTC"), path)

    def compile(
        self,
        source: str,
        name: str,
        arch: str,
        options: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> Compiled:
        """Compile as any program does, without headers of ours: they would hide ROCm's."""
        return super().compile(source, name, arch, options, None, names)


def _words(arch: str, folder: str) -> Sequence[str]:
    kind = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output")
    return (*kind, "-O3", *OPTIONS, f"--offload-arch={arch}")


def find_compiler() -> Hiprtc | Hipcc:
    """Open the library where it is installed, else the program; ToolchainError when there is neither."""
    try:
        return Hiprtc()
    except ToolchainError:
        return Hipcc()
