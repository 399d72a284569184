"""Files that a caged program has left: regular files of a limited size, or none."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

LARGEST_BYTES = 256 << 20
# What reading a file can raise that a program of a stranger's wrote, besides UnusableOutput.
UNREADABLE = (ValueError, LookupError, ArithmeticError, RecursionError, struct.error)


class UnusableOutput(OSError):
    """A file that a caged program was to leave is missing, or not of the expected kind and size."""


def read_output(path: Path, most: int = LARGEST_BYTES) -> bytes:
    """Read a file; UnusableOutput for a link, a FIFO, a device, a folder, none, one too large or with other names."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UnusableOutput(error.errno, f"{path.name}: {error.strerror}") from None
    with open(handle, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_size > most:
            raise UnusableOutput(0, f"{path.name} is no file of the expected kind and size")
        return file.read(most + 1)[:most]
