"""Folders of this process for a short time: gone when it ends, and where it was killed, gone with the next one.

A process leaves in order, by an exception or through `leave`. What one that was killed has left in the system's
temporary place is removed by the next: each folder there is locked for as long as its owner lives.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NoReturn

PREFIX = "ks-scratch-"
_NAME = re.compile(rf"{PREFIX}[a-z]+-[a-z0-9_]{{8}}")  # as mkdtemp names them: nothing else is removed
YOUNG_S = 60.0  # between making a folder and locking it its owner may be slow
_TRIES = 20  # while a thread or a child that is about to end still writes
_endings: list[Callable[[], None]] = []
_own: dict[Path, tuple[int, int]] = {}  # the process that made it, for forks have a copy of this; and the lock


def make(kind: str) -> Path:
    """Make a new folder in the system's temporary place. OSError."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}-"))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    _own[folder] = os.getpid(), lock
    return folder


def make_in(parent: Path, prefix: str | None = None) -> Path:
    """Make a new folder in another place, where somebody else removes what killed processes leave. OSError."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    _own[folder] = os.getpid(), -1
    return folder


def remove(folder: Path) -> None:
    """Remove a folder with all in it, or what another thread has left of it."""
    shutil.rmtree(folder, ignore_errors=True)
    _, lock = _own.pop(folder, (0, -1))
    if lock >= 0:
        os.close(lock)


def before_leaving(end: Callable[[], None]) -> None:
    """Have this called when the process ends in order, before its folders are removed: it ends whoever writes there."""
    _endings.append(end)


def leave(code: int) -> NoReturn:
    """End this process at once, whatever its threads do, and leave none of its folders and programs."""
    _remove_all()
    os._exit(code)


@atexit.register
def _remove_all() -> None:
    for end in _endings:
        end()
    for folder, (pid, _) in list(_own.items()):
        for _ in range(_TRIES if pid == os.getpid() else 0):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.01)


@cache
def _sweep() -> None:
    """Remove, once a process, what processes of this user have left that were killed."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove_left(entry)


def _remove_left(entry: os.DirEntry[str]) -> None:
    about = entry.stat(follow_symlinks=False)
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or time.time() - about.st_mtime < YOUNG_S:
        return
    lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its owner lives
        shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(lock)
