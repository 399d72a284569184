"""A disk without room, told before every other cause: what fails on one fails in many words, and none of them helps."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

LEAST_BYTES = 1 << 20  # below it a file system counts as full: records, compilers and indices write more at a time
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def full_disk(folders: Iterable[Path], least_bytes: int = LEAST_BYTES) -> str:
    """Name the first of these folders whose file system has no room for this user, with what is free; "" for none.

    A folder that is not there yet counts as the nearest one above it that is.
    """
    for folder in folders:
        near = next((p for p in (folder, *folder.parents) if p.exists()), None)
        if near is None:
            continue
        status = os.statvfs(near)
        free = status.f_bavail * status.f_frsize
        if status.f_blocks and free < least_bytes:
            size = status.f_blocks * status.f_frsize
            return f"the disk of {folder} is full: {free >> 10:,} KiB of {size >> 20:,} MiB are free"
        if status.f_files and not status.f_favail:
            return f"the disk of {folder} is full: it has room, and no inode is free for another file"
    return ""


def is_out_of_room(error: BaseException) -> bool:
    """Tell whether a write met a full disk, or a quota, on the way to this error."""
    return any(
        (isinstance(e, OSError) and e.errno in NO_ROOM)
        or (isinstance(e, sqlite3.Error) and getattr(e, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL)
        for e in _chain(error)
    )


def room_sentence(error: BaseException, folders: Iterable[Path]) -> str:
    """Say in one sentence that the disk is full, where that stands behind an error; empty where it does not."""
    unwritten, is_met = _files_of(error), is_out_of_room(error)
    full = full_disk([*unwritten, *folders], LEAST_BYTES * 64 if is_met else LEAST_BYTES)
    if not full and not is_met:
        return ""
    full = (
        full
        or f"the disk is full, or a quota: nothing more can be written to {unwritten[0] if unwritten else 'the output'}"
    )
    return f"{full}; free some space there, then run the same command again, or resume the run"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    known = set[int]()
    while error is not None and id(error) not in known:
        known.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _files_of(error: BaseException) -> list[Path]:
    """List the folders of the files that could not be written."""
    names = [e.filename for e in _chain(error) if isinstance(e, OSError) and e.errno in NO_ROOM]
    return [Path(os.fsdecode(name)).absolute().parent for name in names if isinstance(name, str | bytes)]
