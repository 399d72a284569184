"""CUDA source to a cubin, in this process by NVRTC; nvcc where that library is missing."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from records.errors import ToolchainError

_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_TIMEOUT_S = 120
_VERSION = re.compile(r"V(\d+\.\d+\.\d+)")
OPTIONS = ("--std=c++20", "--extra-device-vectorization")


@dataclass(frozen=True)
class Compiled:
    """An image and what the compiler said, or no image and why."""

    image: bytes | None
    log: str

    @property
    def cubin(self) -> bytes | None:
        """The image, as NVIDIA calls it."""
        return self.image


class Nvrtc:
    """The run-time compiler, opened once."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no libnvrtc."""
        self._library = _load(path)
        self.folder = Path(self._library._name).parent if "/" in self._library._name else None  # of the library

    def version(self) -> str:
        """Such as "13.0"."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}.{minor.value}"

    def compile(self, source: str, name: str, arch: str, options: Sequence[str] = (),
                headers: Mapping[str, str] | None = None) -> Compiled:
        """Compile one file for `arch` (sm_90a); `headers` maps include names to their text."""
        program = ctypes.c_void_p()
        known = headers or {}
        texts = (ctypes.c_char_p * max(1, len(known)))(*(t.encode() for t in known.values()))
        names = (ctypes.c_char_p * max(1, len(known)))(*(n.encode() for n in known))
        status = self._library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), len(known),
                                                  texts, names)
        if status:
            raise ToolchainError(f"NVRTC cannot take the source (status {status}); reinstall the CUDA toolkit")
        try:
            words = [*OPTIONS, f"--gpu-architecture={arch}", *options]
            given = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
            status = self._library.nvrtcCompileProgram(program, len(words), given)
            log = self._text(program, "ProgramLog").decode(errors="replace").rstrip("\0\n")
            return Compiled(None if status else self._text(program, "CUBIN"), log)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self._library, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw


class Nvcc:
    """The toolkit's compiler as a process: the fall-back."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no nvcc."""
        found = path or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        if found is None:
            raise ToolchainError("there is neither libnvrtc nor nvcc here; install the nvidia-cuda-nvrtc wheel or the "
                                 "CUDA toolkit")
        self._path = found
        self.folder = Path(found).resolve().parent  # of the program

    def version(self) -> str:
        """Such as "13.0.88"."""
        found = _VERSION.search(self._run([self._path, "--version"], "/").stdout)
        return found[1] if found else "unknown"

    def compile(self, source: str, name: str, arch: str, options: Sequence[str] = (),
                headers: Mapping[str, str] | None = None) -> Compiled:
        """Like `Nvrtc.compile`."""
        with tempfile.TemporaryDirectory() as folder:
            for header, text in {name: source, **(headers or {})}.items():
                path = Path(folder, header)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            code = arch.replace("sm_", "compute_")
            argv = [self._path, "-cubin", "-x", "cu", "-std=c++20", "-w", "--extra-device-vectorization",
                    f"-gencode=arch={code},code={arch}", "-I", folder, *options, name, "-o", "out.cubin"]
            done = self._run(argv, folder)
            cubin = Path(folder, "out.cubin")
            return Compiled(cubin.read_bytes() if done.returncode == 0 else None, done.stderr.strip())

    def _run(self, argv: Sequence[str], folder: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(argv, cwd=folder, capture_output=True, text=True, errors="replace",
                                  timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(f"nvcc at {self._path} does not run ({error}); reinstall the toolkit") from None


def find_compiler() -> Nvrtc | Nvcc:
    """NVRTC where it is installed, else nvcc; ToolchainError when there is neither."""
    try:
        return Nvrtc()
    except ToolchainError:
        return Nvcc()


def _load(path: str | None) -> ctypes.CDLL:
    for candidate in [path] if path else [*_wheels(), *_NAMES, *_toolkits()]:
        try:
            for builtins in Path(candidate).parent.glob("libnvrtc-builtins.so.*") if "/" in candidate else ():
                ctypes.CDLL(str(builtins))  # it asks for this one by its bare name
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    raise ToolchainError("libnvrtc is not installed here; install the nvidia-cuda-nvrtc wheel or the CUDA toolkit")


def _wheels() -> list[str]:
    """Libraries that pip has put under the `nvidia` name space."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = [str(p) for folder in folders for p in Path(folder).glob("*/lib/libnvrtc.so.*")]
    return sorted((p for p in found if "alt" not in p), reverse=True)


def _toolkits() -> list[str]:
    return sorted((str(p) for p in Path("/usr/local").glob("cuda*/lib64/libnvrtc.so.*")), reverse=True)
