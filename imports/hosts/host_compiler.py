"""Compiles a host half for this machine, against the recording runtime, and runs it; both in a cage."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imports.hosts.host_libraries import FLAGS, RECORDING, TARGET, HostLibraries
from imports.hosts.stub_parameters import StubParameters, stub_parameters
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cage.view import View
from sandbox.candidate.header_names import INCLUDE
from sandbox.process import Completed, ProcessLimits, run

COMPILE_LIMITS = ProcessLimits(cpu_s=120, memory_bytes=4 << 30, file_bytes=256 << 20)
RUN_LIMITS = ProcessLimits(
    cpu_s=8, file_bytes=64 << 20, resident_bytes=3 << 30, folder_bytes=256 << 20, threads=32, idle_s=5.0
)
_LINK = (
    *("--entry", "_start", "--gc-sections", "--eh-frame-hdr", "-s", "-m", "elf_x86_64", "-static"),
    *("-z", "stack-size=67108864"),
)
_DEVICE_CODE = re.compile(r"^(@__hip_fatbin\w*) = external (?:hidden )?constant i8", re.M)
_UNIT_ID = re.compile(r"^(@__hip_cuid_\w*) = global", re.M)
FIRST_S = 20  # of processor time for the first run, with the file's own sizes
PROGRAM, RECORD = "program", "record.txt"


class HostFailure(Exception):
    """The reason why a host half cannot be built, in the words of the compiler."""

    def __init__(self, text: str, missing: str = "", undefined: tuple[str, ...] = ()) -> None:
        """`missing` is a header that was not found, `undefined` are functions that no file defines."""
        super().__init__(text)
        self.missing = missing
        self.undefined = undefined


@dataclass(frozen=True)
class HostProgram:
    """A built program: its folder, and the parameters of each kernel's stub by symbol."""

    folder: Path
    kernels: Mapping[str, StubParameters]


@dataclass(frozen=True)
class Recorded:
    """The lines of a record, and how the program ended."""

    lines: tuple[str, ...]
    completed: Completed


class HostCompiler:
    """Builds and runs host halves; what every build needs is made once and kept in the toolchain's cache."""

    def __init__(self, toolchain: Toolchain) -> None:
        """Confine compiler and program by the toolchain's cage."""
        self._toolchain = toolchain
        self._libraries = HostLibraries(toolchain)

    @property
    def has_standard(self) -> bool:
        """True where the C++ library is built, which most programs need."""
        return self._libraries.has_standard()

    def build(self, texts: Mapping[str, str], folder: Path, headers: Sequence[Path] = ()) -> HostProgram:
        """Build a program of these sources, the first of which is HIP, in the folder; HostFailure says why not."""
        objects, kernels = list[str](), dict[str, StubParameters]()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
            listing, unit = f"{Path(name).stem}_{len(objects)}.ll", f"{Path(name).stem}_{len(objects)}.o"
            flags = self._flags(name, text)
            self._tool(
                folder, (*headers, self._libraries.extents), "clang", *flags, "-S", "-emit-llvm", name, "-o", listing
            )
            llvm = (folder / listing).read_text(encoding="utf-8", errors="replace")
            kernels |= stub_parameters(llvm)
            llvm = _UNIT_ID.sub(r"\1 = internal global", _DEVICE_CODE.sub(r"\1 = internal constant i8 0", llvm))
            (folder / listing).write_text(llvm, encoding="utf-8")
            self._tool(folder, (), "clang", "-target", TARGET, "-O1", "-w", "-c", listing, "-o", unit)
            objects.append(unit)
        rows = [f"{symbol} {len(k.sizes)} {' '.join(map(str, k.sizes))}" for symbol, k in kernels.items()]
        (folder / "parameters.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
        try:
            self._link(folder, objects, [*self._libraries.recorder, self._libraries.stand_ins], "cc")
        except HostFailure:
            self._link(folder, objects, list(self._libraries.recorder), "c++")
        return HostProgram(folder, kernels)

    def _link(self, folder: Path, objects: Sequence[str], units: Sequence[Path], driver: str) -> None:
        start, *archives = self._libraries.archives(driver)
        words = (*_LINK, "-o", PROGRAM, str(start), *objects, *map(str, units))
        group = ("--start-group", *map(str, archives), "--end-group")
        self._tool(folder, (start, *units, *archives), "ld.lld", *words, *group)

    def run(
        self,
        program: HostProgram,
        arguments: Sequence[str],
        sizes: Mapping[int, int],
        data: Mapping[str, Path],
        *,
        is_first: bool = True,
    ) -> Recorded:
        """Execute the program with these arguments and values of its named numbers."""
        position = program.folder / "run"
        shutil.rmtree(position, ignore_errors=True)
        position.mkdir()
        shutil.copyfile(program.folder / "parameters.txt", position / "parameters.txt")
        for name, path in data.items():
            (position / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, position / name)
        words = ",".join(f"{index}={value}" for index, value in sizes.items())
        argv = [str(program.folder / PROGRAM), *arguments]
        view = View(
            executable=(program.folder / PROGRAM,),
            writable=(position,),
            devices=(Path("/dev/null"), Path("/dev/urandom")),
        )
        completed = run(
            argv,
            cwd=position,
            env={"KS_SIZES": words, "LC_ALL": "C.UTF-8"},
            limits=replace(RUN_LIMITS, cpu_s=FIRST_S) if is_first else RUN_LIMITS,
            cage=self._toolchain.cage,
            view=view,
            stop=self._toolchain.stop,
        )
        record = position / RECORD
        text = record.read_text(encoding="utf-8", errors="replace") if record.is_file() else ""
        return Recorded(tuple(text.splitlines()), completed)

    def _flags(self, name: str, text: str) -> list[str]:
        """List the compiler's words for a source: HIP behind the compiled prefix, or plain C and C++."""
        is_device = not name.endswith((".c", ".cpp", ".cc")) or {"__global__", "<<<"} & set(
            re.findall(r"\w+|<<<", text)
        )
        if is_device:
            return [
                "-x",
                "hip",
                *FLAGS,
                "-I.",
                *self._libraries.positions(),
                "-include-pch",
                str(self._libraries.prefix),
            ]
        form = "c" if name.endswith(".c") else "c++"
        left_out = {"--cuda-host-only", "--offload-arch=gfx942", *(["-std=c++20"] if form == "c" else [])}
        return ["-x", form, *(f for f in FLAGS if f not in left_out), "-I.", *self._libraries.positions()]

    def _tool(self, folder: Path, more: Sequence[Path], tool: str, *args: str) -> Completed:
        zig = self._toolchain.zig
        view = View(
            readable=(zig.parent / "lib", INCLUDE, RECORDING, *more),
            executable=(zig,),
            writable=(folder,),
            devices=(Path("/dev/null"), Path("/dev/urandom")),
        )
        completed = run(
            self._toolchain.command(tool, *args),
            cwd=folder,
            env={"TMPDIR": str(folder), "HOME": str(folder)},
            limits=COMPILE_LIMITS,
            cage=self._toolchain.cage,
            view=view,
            stop=self._toolchain.stop,
        )
        if completed.returncode != 0:
            raise _failure(completed)
        return completed


def _failure(completed: Completed) -> HostFailure:
    if completed.timed_out:
        return HostFailure("its host half takes too long to compile")
    errors = re.findall(r"(?:fatal )?error: ([^\n]*)", completed.stderr)
    missing = next((m[1] for e in errors if (m := re.match(r"'([^']+)' file not found", e))), "")
    undefined = tuple(dict.fromkeys(re.findall(r"undefined symbol: ([^\n]+)", completed.stderr)))
    lines = re.findall(r":(\d+):\d+: (?:fatal )?error: ([^\n]*)", completed.stderr)
    first = f"{lines[0][1]} (line {lines[0][0]})" if lines else (errors or [completed.stderr.strip()[-200:]])[0]
    return HostFailure(first, missing, undefined)
