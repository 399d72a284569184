"""One writer at a time, across processes: an advisory lock on a file, which the kernel drops when the holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from records.errors import KnowledgeError


class Held(KnowledgeError):
    """Another process, or another store object of this one, is writing."""


@contextmanager
def exclusive(path: Path, wait_s: float) -> Iterator[None]:
    """Hold the lock for the length of the block.

    Raises:
        Held: another holder did not let go within `wait_s` seconds; it is named.
        KnowledgeError: the file is not writable.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise KnowledgeError(f"the knowledge store {path.parent} is not writable: {error.strerror}") from error
    try:
        _take(handle, path, time.monotonic() + wait_s)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}".encode(), 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _take(handle: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 100, 0).decode("ascii", "replace") or "another process"
                raise Held(
                    f"the knowledge store {path.parent} is locked: {holder} is writing to it; try again when it is done"
                ) from error
            time.sleep(0.05)
