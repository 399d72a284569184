"""Files of large inputs. One that nobody needs any more is written over: a new one takes twice as long."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import deque
from pathlib import Path
from typing import IO

from sandbox.lab.memory_folder import prefix

IDLE = 2  # files at most that wait for the next inputs: as many as two cases at a time leave
KEPT = range(4 << 20, 256 << 20)  # bytes of one that waits: a small one is made as fast


class InputFiles:
    """Safe for threads, and for a finalizer that runs in any of them: nothing is locked."""

    def __init__(self) -> None:
        """Files that wait go with this object."""
        self._idle = deque[Path]()
        weakref.finalize(self, _remove, self._idle)

    def open(self, folder: Path, nbytes: int) -> tuple[Path, IO[bytes]]:
        """Open a file in this folder for about so many bytes, to be written from its beginning."""
        while self._idle and nbytes >= KEPT.start:
            try:
                path = self._idle.popleft()
                if path.parent == folder:
                    return path, path.open("r+b")
                path.unlink(missing_ok=True)
            except (IndexError, FileNotFoundError):
                continue  # another thread was first, or somebody has cleaned up
        descriptor, name = tempfile.mkstemp(prefix=prefix(), dir=folder)
        return Path(name), os.fdopen(descriptor, "wb")

    def give_back(self, path: Path) -> None:
        """Keep the file for other inputs, or remove it; nobody reads it any more."""
        try:
            if len(self._idle) < IDLE and path.stat().st_size in KEPT:
                self._idle.append(path)
            else:
                path.unlink(missing_ok=True)
        except OSError:
            return  # it is gone


def _remove(idle: deque[Path]) -> None:
    for path in idle:
        path.unlink(missing_ok=True)
