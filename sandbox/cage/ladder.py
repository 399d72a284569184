"""The rungs of confinement, strongest first, and the choice of one by trying each for real.

| rung | what confines |
|---|---|
| `namespaces` | own user, mount, process, network, IPC, host-name and cgroup namespaces; Landlock; filter; limits |
| `landlock` | Landlock; a filter of system calls; limits; a process group of its own |
| `limits` | a filter where the kernel has one; limits; a process group of its own: files of the user can be read |
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from records.errors import MachineError
from sandbox.cage import enter, landlock, seccomp
from sandbox.cage.view import View

Rung = Literal["namespaces", "landlock", "limits"]
RUNGS: tuple[Rung, ...] = get_args(Rung)
_SUMMARY: dict[Rung, str] = {
    "namespaces": "own namespaces, Landlock, filter of system calls, limits",
    "landlock": "Landlock, filter of system calls, limits",
    "limits": "filter of system calls and limits only",
}


@dataclass(frozen=True)
class Cage:
    """One rung with the program that enters it: the static launcher, else this Python."""

    rung: Rung
    launcher: tuple[str, ...]

    @property
    def text(self) -> str:
        """For people: the rung and what it is made of."""
        return describe_rung(self.rung)

    @property
    def is_strict(self) -> bool:
        """True where files and network are out of reach, so that nobody needs to watch."""
        return self.rung != "limits"

    def command(
        self,
        argv: list[str],
        view: View,
        *,
        folder: Path,
        parent: int,
        report: int,
        limits: tuple[tuple[int, int, int], ...],
    ) -> list[str]:
        """The launcher's words for this program; `limits` are rows of kind, soft and hard limit."""
        words = ["p", str(parent), "R", str(report), "c", str(folder)]
        if self.rung == "namespaces":
            words.append("n")
        if self.rung != "limits":
            words += ["k", *(str(mask) for mask in landlock.masks(landlock.version()))]
        for kind, path in view.paths():
            words += [kind, str(path)]
        for row in limits:
            words += ["l", *(str(value) for value in row)]
        for descriptor in view.descriptors:
            words += ["i", str(descriptor)]
        words += ["f", filter_words(self.rung)]
        return [*self.launcher, *words, "--", *argv]


def describe_rung(rung: str) -> str:
    """A rung for people, and what it is made of."""
    return f"{rung} ({_SUMMARY[known]})" if (known := next((r for r in RUNGS if r == rung), None)) else rung


def require(rung: str, allowed: str) -> None:
    """MachineError where work that nobody watches would run on `limits` alone, and nobody has allowed that in words."""
    if rung == "limits" and allowed != "limits":
        raise MachineError(
            "this machine can confine kernels by limits only, so they could read and write your files: use Linux 5.13 "
            "or later with Landlock, or allow it with --isolation limits"
        )


@cache
def filter_words(rung: Rung) -> str:
    """The filter of system calls for this machine, 16 hexadecimal digits an instruction."""
    inside = rung == "namespaces" or (rung == "landlock" and landlock.masks(landlock.version())[2] != 0)
    program = seccomp.compose(platform.machine(), signals_stay_inside=inside)
    return seccomp.to_words(program)


def candidates(launcher: Path | None) -> tuple[Cage, ...]:
    """The rungs that may be had with this launcher, strongest first; without one there are no own namespaces."""
    words = (str(launcher),) if launcher else (sys.executable, "-I", "-S", enter.__file__)
    rungs = RUNGS if launcher else RUNGS[1:]
    return tuple(Cage(rung, words) for rung in rungs if rung == "limits" or landlock.version())
