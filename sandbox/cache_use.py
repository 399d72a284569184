"""A cache folder is used by this process for as long as it runs, or is emptied by one while nobody uses it.

Those who use it hold a shared lock on a file in it, which the kernel frees on any death; whoever removes entries holds
it alone. A process that knows a program by its path finds it there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

LOCK = "in-use.lock"
_TURN = threading.Lock()
_USED: dict[str, int] = {}  # folders that this process uses, and their locks' descriptors; never closed


def use(cache: Path) -> None:
    """Use a cache from now on; waits while another process removes entries. A folder that cannot be made is not locked.

    Its next user finds that out, in a sentence of its own.
    """
    with _TURN, contextlib.suppress(OSError):
        name = str(cache.resolve())
        if name in _USED:
            return
        number = _opened(cache)
        fcntl.flock(number, fcntl.LOCK_SH)
        _USED[name] = number


@contextlib.contextmanager
def alone(cache: Path) -> Iterator[bool]:
    """Lock the cache; yield whether no process, this one included, uses it during the block.

    Those who begin to use it wait for the end of the block.
    """
    try:
        number = _opened(cache)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        yield False
        return
    try:
        yield True
    finally:
        os.close(number)


def _opened(cache: Path) -> int:
    cache.mkdir(parents=True, exist_ok=True)
    return os.open(cache / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
