"""HIP source to a code object, in this process by hipRTC; hipcc where that library is missing.

Not run on a machine with ROCm yet: the calls follow hiprtc.h of ROCm 6 and 7.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from records.errors import ToolchainError
from sandbox.device.nvrtc import Compiled

_NAMES = ("libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so")
_TIMEOUT_S = 120
_COMPILE_FAILED = 6
_VERSION = re.compile(r"HIP version: *(\S+)")
OPTIONS = ("-std=c++20", "-ffp-contract=fast-honor-pragmas", "-fno-exceptions", "-Wno-unused-command-line-argument",
           "-ftemplate-depth=512", "-fconstexpr-steps=10000000", "-ferror-limit=20", "-fmessage-length=0")


class Hiprtc:
    """The run-time compiler, opened once."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no libhiprtc."""
        self._library = _load(path)
        self.folder = Path(self._library._name).parent if "/" in self._library._name else None  # of the library

    def version(self) -> str:
        """Such as "7.0"."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._library.hiprtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}.{minor.value}"

    def compile(self, source: str, name: str, arch: str, options: Sequence[str] = (),
                headers: Mapping[str, str] | None = None) -> Compiled:
        """Compile one file for `arch` (gfx942); `headers` maps include names to their text, which may not be empty.

        hipRTC has HIP's own headers built in and includes them itself.
        """
        program = ctypes.c_void_p()
        known = headers or {}
        texts = (ctypes.c_char_p * max(1, len(known)))(*(t.encode() for t in known.values()))
        names = (ctypes.c_char_p * max(1, len(known)))(*(n.encode() for n in known))
        status = self._library.hiprtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), len(known),
                                                   texts, names)
        if status:
            raise ToolchainError(f"hipRTC cannot take the source (status {status}); reinstall ROCm")
        try:
            words = [*OPTIONS, f"--offload-arch={arch}", *options]
            given = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
            status = self._library.hiprtcCompileProgram(program, len(words), given)
            log = self._text(program, "ProgramLog").decode(errors="replace").rstrip("\0\n")
            if status and status != _COMPILE_FAILED and "error:" not in log:
                raise ToolchainError(f"hipRTC failed without a word of the source (status {status}); reinstall ROCm")
            return Compiled(None if status else self._text(program, "Code"), log)
        finally:
            self._library.hiprtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._library, f"hiprtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        getattr(self._library, f"hiprtcGet{what}")(program, buffer)
        return buffer.raw[:size.value]


class Hipcc:
    """ROCm's compiler as a process: the fall-back."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no hipcc."""
        found = path or shutil.which("hipcc") or shutil.which("/opt/rocm/bin/hipcc")
        if found is None:
            raise ToolchainError("there is neither libhiprtc nor hipcc here; install ROCm")
        self._path = found
        self.folder = Path(found).resolve().parent  # of the program

    def version(self) -> str:
        """Such as "7.0.51831"."""
        found = _VERSION.search(self._run([self._path, "--version"], "/").stdout)
        return found[1] if found else "unknown"

    def compile(self, source: str, name: str, arch: str, options: Sequence[str] = (),
                headers: Mapping[str, str] | None = None) -> Compiled:
        """Like `Hiprtc.compile`, with ROCm's own headers."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_text(source, encoding="utf-8")
            argv = [self._path, "-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-O3", *OPTIONS,
                    f"--offload-arch={arch}", *options, name, "-o", "out.co"]
            done = self._run(argv, folder)
            image = Path(folder, "out.co")
            return Compiled(image.read_bytes() if done.returncode == 0 else None, done.stderr.strip())

    def _run(self, argv: Sequence[str], folder: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(argv, cwd=folder, capture_output=True, text=True, errors="replace",
                                  timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(f"hipcc at {self._path} does not run ({error}); reinstall ROCm") from None


def find_compiler() -> Hiprtc | Hipcc:
    """The library where it is installed, else the program; ToolchainError when there is neither."""
    try:
        return Hiprtc()
    except ToolchainError:
        return Hipcc()


def _load(path: str | None) -> ctypes.CDLL:
    for candidate in [path] if path else _NAMES:
        try:
            library = ctypes.CDLL(candidate)
        except OSError:
            continue
        for builtins in Path(candidate).parent.glob("libhiprtc-builtins.so.*") if "/" in candidate else ():
            ctypes.CDLL(str(builtins))  # it is opened at the first compilation, when no file may be opened any more
        return library
    raise ToolchainError("libhiprtc is not installed here; install ROCm")
