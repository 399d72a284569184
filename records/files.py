"""Files that are there whole or not at all, whoever else reads or writes them, and files of strangers."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_strange(path: Path, most_bytes: int) -> bytes:
    """Read a stranger's file: the bytes of a regular file itself, never of what a link points to. OSError otherwise.

    What is looked at and what is read is one open file, whatever is put in its place meanwhile. Its text says what
    stands there instead: a link, a pipe, a device, or more than so many bytes.
    """
    handle = os.open(path, _FLAGS)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        data = file.read(most_bytes + 1) if status.st_size <= most_bytes else None
    if data is None or len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes:,} bytes", str(path))
    return data


def write_whole(path: Path, data: bytes, *, is_public: bool = False, is_durable: bool = False) -> None:
    """Write beside the place and rename; nothing is left where that fails. OSError.

    `is_public`: others of this machine may read it. `is_durable`: it outlives a loss of power once this returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        if is_public:
            Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # gone already unless something failed
    if is_durable:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
