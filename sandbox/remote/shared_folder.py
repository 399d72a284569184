"""Files in a folder that others write to as well: only regular ones are opened, nothing is waited for or followed.

A FIFO would block whoever opens it, a link leads out of the folder, and a file may be larger than memory. All of them
count as damaged files: they are told apart by their kind before a byte is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_regular(path: Path, most_bytes: int) -> bytes | None:
    """Read a regular file; empty for anything else and for one that is too large, None for nothing. OSError.

    Its size is looked at before and while it is read, so a file that grows is cut off and then counts as too large.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # opening a device may do something
            return b""
        descriptor = os.open(path, FLAGS)
    except FileNotFoundError:
        return None
    except OSError:
        if is_odd(path):  # it became a link or a socket in between
            return b""
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
            return b""
        data = file.read(most_bytes + 1)
    return data if len(data) <= most_bytes else b""


def is_odd(path: Path) -> bool:
    """Tell whether something stands at the path that is no regular file."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def is_own_folder(path: Path) -> bool:
    """Tell whether a folder is in its place, not linked there."""
    return stat.S_ISDIR(path.lstat().st_mode)


def names_in(folder: Path) -> Iterator[str]:
    """List the names of whatever is there, without looking at any of it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name


def touch_own(path: Path, inode: int, times: tuple[float, float] | None) -> None:
    """Set the times of a file that is still the one with this inode; anything else at the path is left alone."""
    try:
        descriptor = os.open(path, FLAGS)
    except OSError:  # gone, or replaced by what cannot be opened
        return
    try:
        if os.fstat(descriptor).st_ino == inode:
            os.utime(descriptor, times)
    finally:
        os.close(descriptor)
