"""A host half as it is built: which function is executed, which of its numbers can change, what was left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from imports.hosts.host_compiler import HostCompiler, HostFailure, HostProgram
from imports.hosts.host_launcher import HostLauncher, driver, launchers, tops
from imports.hosts.host_text import device_words, in_hip, named_numbers, with_values, without_bodies
from imports.hosts.local_headers import other_sources, with_headers
from imports.hosts.memory import HostUnclear

MAIN, MOST_HEADERS = "host.hip", 8
LIBRARIES = re.compile(
    r"\b((?:cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|hipblas|hipfft|hiprand|hipsparse|rocblas|"
    r"rocrand|thrust|cub|npp|nvtx|mpi|cutlass|cg)\w*)",
    re.I,
)


@dataclass(frozen=True)
class HostSource:
    """A file with its headers in it, and where it lies."""

    text: str
    path: Path


@dataclass(frozen=True)
class HostWishes:
    """All that somebody says of a host half."""

    entry: str = ""  # a launcher, or a kernel whose launches alone count
    sizes: Mapping[str, int] | None = None
    outputs: Sequence[str] = ()
    arguments: tuple[str, ...] | None = None  # of the command line


class HostBuild:
    """Builds one file, again where a number of it is to be another."""

    def __init__(self, source: HostSource, wishes: HostWishes, compiler: HostCompiler, folder: Path) -> None:
        """Take a folder for what is built; HostUnclear for a file without a kernel or without a launch."""
        self._source, self._compiler, self._folder = source, compiler, folder
        self.entry, self.sizes = wishes.entry, wishes.sizes or {}
        self.text = re.sub(r'\bextern\s+"C"\s+(?=[\w\s()]*__global__)|(?<=__global__)\s+extern\s+"C"', " ", source.text)
        self.text = in_hip(self.text)
        if "__global__" not in self.text:
            raise HostUnclear("it has no kernel (__global__ function)")
        self.plain = without_bodies(self.text)
        self._words = device_words(self.text)
        self.names = [n for n in named_numbers(self.plain) if n.value > 1]
        self._dropped = list[str]()
        self.launcher: HostLauncher | None = None
        self._driver = self._entry()

    def _entry(self) -> str:
        """Choose what is executed: `main`, or a function without one that calls it, which gets a `main`."""
        entry, functions = self.entry, launchers(self.text)
        if entry and entry not in functions and not self.is_kernel(entry):
            raise HostUnclear(f"it has no function or kernel {entry}; it has {', '.join(functions) or 'none'}")
        if entry not in functions and re.search(r"\bmain\s*\(", self.plain):
            return ""
        names = [entry] if entry in functions else tops(functions)
        if not names:
            raise HostUnclear("no function of it launches a kernel, so put a launch plan in front of it by hand")
        if len(names) > 1:
            raise HostUnclear(f"{', '.join(names)} launch kernels: name one with FILE:FUNCTION")
        self.launcher = functions[names[0]]
        self.plain = re.sub(r"\bint\s+main\s*\(", "int ks_other_main(", self.plain)
        return driver(self.launcher, self.sizes, len(self.names))

    def is_kernel(self, name: str) -> bool:
        """Tell whether the file has a kernel of this name."""
        return re.search(rf"__global__[^;{{]*\b{re.escape(name)}\b", self.text) is not None

    def built(self) -> tuple[HostProgram, list[int]]:
        """Build with numbers that can change while it runs: as many of them as the compiler takes."""
        changeable = self.free()
        local = [i for i in changeable if not self.names[i].is_constant and not self.names[i].is_macro]
        failure: HostFailure | None = None
        for live in dict.fromkeys((tuple(changeable), tuple(local), ())):
            try:
                values = {i: f"(int)ks_size({i}, {self.names[i].value}L)" for i in live}
                return self.build(values), list(live)
            except HostFailure as error:
                failure = error
        assert failure is not None
        raise HostUnclear(self._reason(failure))

    def free(self) -> list[int]:
        """List the numbers that no device code names, by index."""
        return [i for i, n in enumerate(self.names) if not (n.is_global and n.name in self._words)]

    def build(self, values: Mapping[int, str]) -> HostProgram:
        """Build with these texts in the place of numbers; the user's own sizes stand for what is left."""
        stated = {i: str(self.sizes[n.name]) for i, n in enumerate(self.names) if n.name in self.sizes}
        values = {**stated, **values}
        units = dict[str, str]()
        for _ in range(MOST_HEADERS):
            text = with_values(self.plain, self.names, values)
            for name in self._dropped:
                text = re.sub(rf'^[ \t]*#[ \t]*include[ \t]*["<]{re.escape(name)}[">][^\n]*', "", text, flags=re.M)
            main = f"#include <hip/hip_runtime.h>\n#line 1\n{text}\n{self._driver}\n"
            try:
                return self._compiler.build({MAIN: main, **units}, self._folder)
            except HostFailure as error:
                if error.missing and error.missing not in self._dropped:
                    self._dropped.append(error.missing)
                elif error.undefined and not units:
                    units = self._others()
                    if not units:
                        raise
                else:
                    raise
        raise HostFailure("it includes too many headers that are not here")

    def _others(self) -> dict[str, str]:
        units = dict[str, str]()
        for path in other_sources(self._source.path):
            text = with_headers(path, _read(path), _read)[0]
            if path.suffix not in (".c", ".cpp", ".cc"):
                text = "#include <hip/hip_runtime.h>\n" + without_bodies(in_hip(text))
            units[path.name] = text
        return units

    def _reason(self, failure: HostFailure) -> str:
        dropped = f"the header {self._dropped[0]} is not here, and " if self._dropped else ""
        if failure.undefined:
            return f"{dropped}it calls {failure.undefined[0]}, which no file beside it defines"
        if match := LIBRARIES.search(str(failure)):
            return f"{dropped}it uses {match[1]}, of a library"
        return f"{dropped}its host half does not compile for this machine: {failure}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
