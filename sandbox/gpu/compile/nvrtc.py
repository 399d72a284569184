"""CUDA source to a cubin, in this process by NVRTC; nvcc where that library is missing."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from records.errors import ToolchainError
from sandbox.gpu.compile.rtc import Compiled, LibraryNames, Program, ProgramNames, RunTimeCompiler, open_library

__all__ = ["OPTIONS", "Compiled", "Nvcc", "Nvrtc", "find_compiler"]

_LIBRARIES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_PLACES = ("nvcc", "/usr/local/cuda/bin/nvcc")
_VERSION = re.compile(r"V(\d+\.\d+\.\d+)")
OPTIONS = ("--std=c++20", "--extra-device-vectorization")
_NAMES = LibraryNames("NVRTC", "nvrtc", "CUBIN", "--gpu-architecture", OPTIONS, "reinstall the CUDA toolkit")
# Textures, surfaces and run-time types take a sixth of the time of an empty kernel; from 12.4 on they can be left out.
_MINIMAL = "--minimal"
_NOT_MINIMAL = re.compile(r"cuda[A-Z]|\b(?:tex|surf)[123C]|cooperative_groups")
_UNKNOWN = re.compile(rf"^nvrtc: error: unrecognized option {_MINIMAL} found$")
_INSTALL = "install the nvidia-cuda-nvrtc wheel or the CUDA toolkit"


class Nvrtc(RunTimeCompiler):
    """The run-time compiler, opened once."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no libnvrtc."""
        paths = [path] if path else [*_wheels(), *_LIBRARIES, *_toolkits()]
        super().__init__(open_library(paths, f"libnvrtc is not installed here; {_INSTALL}"), _NAMES)
        self._knows_minimal = True  # until it refuses the option

    def compile(
        self,
        source: str,
        name: str,
        arch: str,
        options: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> Compiled:
        """Compile with `--minimal` where the version knows it and the source needs nothing that it leaves out.

        What does not compile with it is compiled without: no word that we do not know may make a source wrong.
        """
        if self._knows_minimal and not _NOT_MINIMAL.search(source):
            compiled = super().compile(source, name, arch, [*options, _MINIMAL], headers, names)
            if compiled.image is not None:
                return compiled
            self._knows_minimal = not _UNKNOWN.match(compiled.log)
        return super().compile(source, name, arch, options, headers, names)


class Nvcc(Program):
    """The toolkit's compiler as a process: the fall-back."""

    def __init__(self, path: str | None = None) -> None:
        """ToolchainError when there is no nvcc."""
        missing = f"there is neither libnvrtc nor nvcc here; {_INSTALL}"
        names = ProgramNames("nvcc", _PLACES, _words, _VERSION, missing, "reinstall the toolkit", "install NVRTC")
        super().__init__(names, path)


def _words(arch: str, folder: str) -> Sequence[str]:
    code = f"-gencode=arch={arch.replace('sm_', 'compute_')},code={arch}"
    return ("-cubin", "-x", "cu", "-std=c++20", "-w", "--extra-device-vectorization", code, "-I", folder)


def find_compiler() -> Nvrtc | Nvcc:
    """Open NVRTC where it is installed, else nvcc; ToolchainError when there is neither."""
    try:
        return Nvrtc()
    except ToolchainError:
        return Nvcc()


def _wheels() -> list[str]:
    """List libraries that pip has put under the `nvidia` name space."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    paths = [str(p) for folder in folders for p in Path(folder).glob("*/lib/libnvrtc.so.*")]
    return sorted((p for p in paths if "alt" not in p), reverse=True)


def _toolkits() -> list[str]:
    return sorted((str(p) for p in Path("/usr/local").glob("cuda*/lib64/libnvrtc.so.*")), reverse=True)
