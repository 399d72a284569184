"""What a vendor's driver library calls things. `driver.py` speaks in our verbs; a table like this one translates."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Call = Callable[..., None]  # (verb, *arguments): calls the library and raises CallFailed for any status but 0
OUT_OF_MEMORY, UNKNOWN = 2, 999  # the same numbers in both interfaces


@dataclass(frozen=True)
class Symbols:
    """One vendor's C interface. Every function returns a status, 0 for success."""

    vendor: str  # as in a target's file: nvidia | amd
    libraries: tuple[str, ...]  # names to open, the first that exists
    remedy: str  # what to do when there is none
    environment: Mapping[str, str]  # all that a process which opens the library finds in its own
    functions: Mapping[str, str]  # our verb to the exported name; a verb that the vendor lacks is absent
    device_attributes: Mapping[str, int]  # our noun to the number of a device attribute
    kernel_attributes: Mapping[str, int]  # registers, shared_bytes, local_bytes, threads
    dynamic_shared_attribute: int  # the kernel attribute that allows more dynamic shared memory; -1: not needed
    heap_limit: int  # the limit of the heap that malloc in a kernel takes from
    faults: Mapping[int, tuple[str, str]]  # statuses that a kernel causes: kind of finding, sentence
    refusals: Mapping[int, tuple[str, str]]  # the same for statuses that mean it only when a launch returns them
    lost: frozenset[int]  # the device or its context is unusable, and no kernel is to blame
    last_words: tuple[tuple[re.Pattern[str], str, str], ...]  # what the driver prints before it aborts: kind, sentence
    select: Callable[[Call, int], ctypes.c_int]  # makes a device the calling thread's; returns its handle
    arch: Callable[[Call, ctypes.c_int, Mapping[str, int]], str]  # the architecture's name, from handle and attributes
    version: Callable[[int], str]  # the version number in words
    describe: Callable[[ctypes.CDLL, int], str]  # a status in words

    def blame(self, said: str) -> tuple[str, str] | None:
        """Kind and sentence of the fault that a dying process printed; None when it names none."""
        return next(((kind, text) for pattern, kind, text in self.last_words if pattern.search(said)), None)
