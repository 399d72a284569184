"""What a vendor's driver library calls things. `driver.py` speaks in our verbs; a table like this one translates."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Call = Callable[..., None]  # (verb, *arguments): calls the library and raises MachineError for any status but 0


@dataclass(frozen=True)
class Symbols:
    """One vendor's C interface. Every function returns a status, 0 for success."""

    vendor: str  # as in a target's file: nvidia | amd
    libraries: tuple[str, ...]  # names to open, the first that exists
    remedy: str  # what to do when there is none
    functions: Mapping[str, str]  # our verb to the exported name
    device_attributes: Mapping[str, int]  # our noun to the number of a device attribute
    kernel_attributes: Mapping[str, int]  # registers, shared_bytes, local_bytes, threads
    dynamic_shared_attribute: int  # the kernel attribute that allows more dynamic shared memory; -1: not needed
    select: Callable[[Call, int], ctypes.c_int]  # makes a device the calling thread's; returns its handle
    describe: Callable[[ctypes.CDLL, int], str]  # a status in words
