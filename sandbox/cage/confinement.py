"""The levels of confinement, strongest first, and the choice of one by trying each for real.

| level | what confines |
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

ConfinementLevel = Literal["namespaces", "landlock", "limits"]
LEVELS: tuple[ConfinementLevel, ...] = get_args(ConfinementLevel)
_SUMMARY: dict[ConfinementLevel, str] = {
    "namespaces": "own namespaces, Landlock, filter of system calls, limits",
    "landlock": "Landlock, filter of system calls, limits",
    "limits": "filter of system calls and limits only",
}


@dataclass(frozen=True)
class Cage:
    """One level with the program that enters it: the static launcher, else this Python."""

    level: ConfinementLevel
    launcher: tuple[str, ...]

    @property
    def text(self) -> str:
        """For people: the level and what it is made of."""
        return describe_level(self.level)

    @property
    def is_strict(self) -> bool:
        """True where files and network are out of reach, so that nobody needs to watch."""
        return self.level != "limits"

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
        """Write the launcher's words for this program; `limits` are rows of kind, soft and hard limit."""
        words = ["p", str(parent), "R", str(report), "c", str(folder)]
        if self.level == "namespaces":
            words.append("n")
        if self.level != "limits":
            words += ["k", *(str(mask) for mask in landlock.masks(landlock.version()))]
        for kind, path in view.paths():
            words += [kind, str(path)]
        for row in limits:
            words += ["l", *(str(value) for value in row)]
        for descriptor in view.descriptors:
            words += ["i", str(descriptor)]
        words += ["f", filter_words(self.level, may_fork=view.may_fork)]
        return [*self.launcher, *words, "--", *argv]


def describe_level(level: str) -> str:
    """Describe a level for people, with what it is made of."""
    known_level = next((r for r in LEVELS if r == level), None)
    return f"{level} ({_SUMMARY[known_level]})" if known_level else level


def require(level: str, allowed: str) -> None:
    """Raise MachineError where unwatched work would run on `limits` alone, and nobody has allowed that in words."""
    if level == "limits" and allowed != "limits":
        raise MachineError(
            "this machine can confine kernels by limits only, so they could read and write your files: use Linux 5.13 "
            "or later with Landlock, or allow it with --isolation limits"
        )


@cache
def filter_words(level: ConfinementLevel, *, may_fork: bool = False) -> str:
    """Compose this machine's filter of system calls, 16 hexadecimal digits an instruction."""
    inside = level == "namespaces" or (level == "landlock" and landlock.masks(landlock.version())[2] != 0)
    program = seccomp.compose(platform.machine(), signals_stay_inside=inside, may_fork=may_fork)
    return seccomp.to_words(program)


def candidates(launcher: Path | None) -> tuple[Cage, ...]:
    """List the levels that may be had with this launcher, strongest first; without one there are no own namespaces."""
    words = (str(launcher),) if launcher else (sys.executable, "-I", "-S", enter.__file__)
    levels = LEVELS if launcher else LEVELS[1:]
    return tuple(Cage(level, words) for level in levels if level == "limits" or landlock.version())
