"""Files in memory, by which images, inputs and outputs pass between the judge and its child process."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Raw = npt.NDArray[np.uint8]


@contextlib.contextmanager
def shared_file(name: str, data: bytes | Raw) -> Iterator[int]:
    """Lend a memory file with these contents, as long as the block lasts."""
    handle = filled_file(name, data)
    try:
        yield handle
    finally:
        os.close(handle)


def filled_file(name: str, data: bytes | Raw) -> int:
    """Make a memory file with these contents, which no process can change; the caller closes it.

    Never empty, as an empty file cannot be mapped.
    """
    source = memoryview(data if isinstance(data, bytes) else data.data) if len(data) else memoryview(b"\0")
    handle, offset = memory_file(name, len(source)), 0
    try:
        while offset < len(source):
            offset += os.pwrite(handle, source[offset : offset + (1 << 30)], offset)
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL)
    except OSError:
        os.close(handle)
        raise
    return handle


def memory_file(name: str, nbytes: int) -> int:
    """Open anonymous memory whose size is fixed, also for a process that it is passed to; return its descriptor."""
    handle = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(handle, nbytes)
    fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    return handle


def view(handle: int) -> Raw:
    """Map a file's contents without a copy; they stay as long as the array does."""
    return np.frombuffer(mmap.mmap(handle, 0, mmap.MAP_PRIVATE, mmap.PROT_READ), np.uint8)


def view_to_fill(handle: int) -> Raw:
    """Map a file for writing; all pages are there at once, so that no write waits for one."""
    return np.frombuffer(mmap.mmap(handle, 0, mmap.MAP_SHARED | mmap.MAP_POPULATE), np.uint8)
