"""Landlock, the kernel's fence around files, ports and signals, for this process and what it starts."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sandbox.cage.view import View

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_NO_NEW_PRIVILEGES = 38
_ON_FILES = 0xC007  # of all rights those that make sense on a file
# Execute 1, write 2, read 4, list 8, remove folder 10, remove file 20, make: character device 40, folder 80, file 100,
# socket 200, FIFO 400, block device 800, link 1000; refer 2000, truncate 4000, ioctl 8000 (hexadecimal).
_DRIVEN = 0x8006  # of a device that is driven by ioctl
RIGHTS = {"r": 0x000C, "x": 0x000D, "w": 0x61BE, "d": 0x0006}
_ALL = 0xFFFF  # on a folder that a program may do with as it likes


@cache
def version() -> int:
    """Ask the kernel for its version of Landlock; 0 where it has none."""
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, 0, 1)))


def masks(version: int) -> tuple[int, int, int]:
    """Return all rights on files, all on the network, all scopes that this version of Landlock can deny."""
    bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    return (1 << bits) - 1 if version else 0, 3 if version >= 4 else 0, 3 if version >= 6 else 0


def restrict(view: View, driven: Sequence[Path] = (), free: Sequence[Path] = (), *, has_network: bool = False) -> bool:
    """Forbid this process and its children all but the view and devices to drive; False where there is no Landlock.

    In folders that are `free` nothing is forbidden.
    """
    if not version():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    files, network, scopes = masks(version())
    network = 0 if has_network else network
    size = 24 if scopes else 16 if network else 8
    ruleset = libc.syscall(_CREATE_RULESET, struct.pack("=QQQ", files, network, scopes), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    for granted, path in [
        *((RIGHTS[kind], path) for kind, path in view.paths()),
        *((_DRIVEN, path) for path in driven),
        *((_ALL, path) for path in free),
    ]:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # this machine has no such path
        rights = files & granted
        allowed = rights if Path(path).is_dir() else rights & _ON_FILES
        libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, handle), 0)
        os.close(handle)
    renounce()
    status = libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return bool(status == 0)


def renounce() -> None:
    """Give up new privileges for good, as a filter and this fence ask for."""
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
