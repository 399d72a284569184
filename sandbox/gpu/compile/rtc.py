"""The part that NVRTC and hipRTC share, and that nvcc and hipcc share: one is a library here, the other a process.

The libraries export the same functions under another prefix, with the same numbers.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from records.errors import ToolchainError

_TIMEOUT_S = 120
_COMPILE_FAILED = 6  # for what the source is to blame


@dataclass(frozen=True)
class Compiled:
    """An image and what the compiler said, or no image and why."""

    image: bytes | None
    log: str
    symbols: Mapping[str, str] = field(default_factory=dict)  # of the names that were asked for

    @property
    def cubin(self) -> bytes | None:
        """The image, as NVIDIA calls it."""
        return self.image


@dataclass(frozen=True)
class LibraryNames:
    """The words of one vendor's library."""

    title: str  # NVRTC
    prefix: str  # of the exported functions: nvrtc
    image: str  # CUBIN, as in nvrtcGetCUBIN
    arch_option: str
    options: tuple[str, ...]
    remedy: str


@dataclass(frozen=True)
class ProgramNames:
    """The words of one vendor's program."""

    name: str  # nvcc
    paths: tuple[str, ...]
    words: Callable[[str, str], Sequence[str]]  # for an architecture and the folder with source and headers
    version: re.Pattern[str]  # in the text for --version
    missing: str  # a sentence
    remedy: str
    library: str  # what to install for that which only the library can do


class RunTimeCompiler:
    """A compiler as a library, opened once."""

    def __init__(self, library: ctypes.CDLL, names: LibraryNames) -> None:
        self._library, self._names = library, names
        self.folder = Path(library._name).parent if "/" in library._name else None  # of the library

    def version(self) -> str:
        """Return the version, such as "13.0"."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("Version", ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}.{minor.value}"

    def compile(
        self,
        source: str,
        name: str,
        arch: str,
        options: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> Compiled:
        """Compile one file for `arch` (sm_90a, gfx942); `headers` maps include names to their text.

        Each of `names` is a kernel of a namespace or of a template, which is instantiated, and whose symbol comes back.
        ToolchainError when the compiler fails for reasons that are not in the source.
        """
        title, remedy = self._names.title, self._names.remedy
        program = ctypes.c_void_p()
        header_texts = headers or {}
        texts = (ctypes.c_char_p * max(1, len(header_texts)))(*(t.encode() for t in header_texts.values()))
        headers_named = (ctypes.c_char_p * max(1, len(header_texts)))(*(n.encode() for n in header_texts))
        status = self._call(
            "CreateProgram",
            ctypes.byref(program),
            source.encode(),
            name.encode(),
            len(header_texts),
            texts,
            headers_named,
        )
        if status:
            raise ToolchainError(f"{title} cannot take the source (status {status}); {remedy}")
        try:
            for kernel_name in names:
                self._call("AddNameExpression", program, kernel_name.encode())
            words = [*self._names.options, f"{self._names.arch_option}={arch}", *options]
            arguments = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
            status = self._call("CompileProgram", program, len(words), arguments)
            log = self._text(program, "ProgramLog").decode(errors="replace").rstrip("\0\n")
            if status and status != _COMPILE_FAILED and "error:" not in log:
                raise ToolchainError(f"{title} failed without a word of the source (status {status}); {remedy}")
            if status:
                return Compiled(None, log)
            symbols = {kernel_name: self._symbol(program, kernel_name) for kernel_name in names}
            return Compiled(self._text(program, self._names.image), log, symbols)
        finally:
            self._call("DestroyProgram", ctypes.byref(program))

    def _symbol(self, program: ctypes.c_void_p, name: str) -> str:
        symbol = ctypes.c_char_p()
        if self._call("GetLoweredName", program, name.encode(), ctypes.byref(symbol)) or not symbol.value:
            raise ToolchainError(f"{self._names.title} does not give the symbol of {name}; {self._names.remedy}")
        return symbol.value.decode()

    def _text(self, program: ctypes.c_void_p, part: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"Get{part}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        self._call(f"Get{part}", program, buffer)
        return buffer.raw[: size.value]

    def _call(self, function: str, *arguments: object) -> int:
        return int(getattr(self._library, f"{self._names.prefix}{function}")(*arguments))


class Program:
    """A compiler as a process: the fall-back."""

    def __init__(self, names: ProgramNames, path: str | None = None) -> None:
        """ToolchainError with `missing` when the program has no path and is in none of the places."""
        program = path or next((location for location in map(shutil.which, names.paths) if location), None)
        if program is None:
            raise ToolchainError(names.missing)
        self._names, self._path = names, program
        self.folder = Path(program).resolve().parent  # of the program

    def version(self) -> str:
        """Return the version, such as "13.0.88"."""
        match = self._names.version.search(self._run(["--version"], "/").stdout)
        return match[1] if match else "unknown"

    def compile(
        self,
        source: str,
        name: str,
        arch: str,
        options: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> Compiled:
        """Compile like `RunTimeCompiler`; ToolchainError where symbols are asked for: only the library gives them."""
        if names:
            raise ToolchainError(f"{self._names.name} does not give the symbol of {names[0]}; {self._names.library}")
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {name: source, **(headers or {})}.items():
                path = Path(folder, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            completed = self._run([*self._names.words(arch, folder), *options, name, "-o", "image"], folder)
            image = Path(folder, "image").read_bytes() if completed.returncode == 0 else None
            return Compiled(image, completed.stderr.strip())

    def _run(self, words: Sequence[str], folder: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self._path, *words],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(
                f"{self._names.name} at {self._path} does not run ({error}); {self._names.remedy}"
            ) from None


def open_library(paths: Sequence[str], missing: str) -> ctypes.CDLL:
    """Open the first library that there is, with its `-builtins`; ToolchainError with `missing` when none opens."""
    for path in paths:
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        # asked for by their bare names at the first compilation, when no file may be opened any more
        stem = Path(path).name.split(".")[0]
        for builtins in Path(path).parent.glob(f"{stem}-builtins.so.*") if "/" in path else ():
            ctypes.CDLL(str(builtins))
        return library
    raise ToolchainError(missing)
