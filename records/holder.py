"""The process that holds a lock, as the lock's file names it: a number alone could be that of a later process."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def signature() -> str:
    """Write this process in one line."""
    return _line(os.getpid())


def process_of(text: str) -> int:
    """Return the number of the process of this line; 0 where it has ended, or runs where this one cannot see it."""
    first = text.partition(" ")[0]
    return int(first) if first.isdecimal() and _line(int(first)) == text.strip() else 0


def _line(pid: int) -> str:
    """Write the number, start and name space of a process; empty where there is none."""
    with suppress(OSError, IndexError):
        started = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
        return f"{pid} {started} {Path(f'/proc/{pid}/ns/pid').readlink()}"
    return ""
