"""Files that a caged program has left: regular files of a limited size, or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

LARGEST_BYTES = 256 << 20


def read_output(path: Path, most: int = LARGEST_BYTES) -> bytes:
    """The contents; OSError for a link, a FIFO, a device, a folder, a file that is too large or has other names."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_size > most:
            raise OSError(0, f"{path.name} is no file of the expected kind and size")
        return file.read(most + 1)[:most]
