"""Processes of this machine, read from /proc of Linux: what they have used, what runs below them, and their end."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
OWN, WITH_CHILDREN = slice(11, 13), slice(11, 15)  # processor times among the fields of /proc/PID/stat


def processor() -> str:
    """Name this machine's processor; empty where nobody knows."""
    try:
        lines = (PROC / "cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def described_machine() -> str:
    """Describe the machine in words."""
    return f"x86-64 machine with {len(os.sched_getaffinity(0))} cores ({processor() or 'unknown'})"


def cpu_s(pid: int, *, with_ended_children: bool = False) -> float:
    """Read the processor time of a process so far; 0 when it has ended."""
    fields = _stat_fields(PROC / str(pid))
    return sum(map(int, fields[WITH_CHILDREN if with_ended_children else OWN])) / TICKS_A_SECOND


def descendants(pid: int) -> list[int]:
    """List the processes below one, the deepest first."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in PROC.glob("[0-9]*"):
        if fields := _stat_fields(folder):
            children[int(fields[1])].append(int(folder.name))
    below, waiting = list[int](), [pid]
    while waiting:
        of_parent = children[waiting.pop()]
        below += of_parent
        waiting += of_parent
    return below[::-1]


def kill(pid: int) -> None:
    """Send SIGKILL, also to one that has gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _stat_fields(folder: Path) -> list[str]:
    """Read the fields behind the name in a process's stat file, its state first; none when it has ended."""
    try:
        return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
