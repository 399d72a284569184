"""A vendor's driver library by ctypes: a table of its names, calls that are all checked, failures that name a culprit.

Code above speaks in our verbs; a `Symbols` table (`cuda.py`, `hip.py`) translates them into exported names and numbers.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from records.errors import MachineError
from records.evaluation import FindingKind

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
    faults: Mapping[int, tuple[FindingKind, str]]  # statuses that a kernel causes: kind of finding, sentence
    refusals: Mapping[int, tuple[FindingKind, str]]  # the same, but only when a launch returns them
    lost: frozenset[int]  # the device or its context is unusable, and no kernel is to blame
    last_words: tuple[tuple[re.Pattern[str], FindingKind, str], ...]  # what a driver prints that aborts: kind, sentence
    select: Callable[[Call, int], ctypes.c_int]  # makes a device the calling thread's; returns its handle
    arch: Callable[[Call, ctypes.c_int, Mapping[str, int]], str]  # the architecture's name, from handle and attributes
    version: Callable[[int], str]  # the version number in words
    describe: Callable[[ctypes.CDLL, int], str]  # a status in words

    def blame(self, output: str) -> tuple[FindingKind, str] | None:
        """Find kind and sentence of the fault that a dying process printed; None when it names none."""
        return next(((kind, text) for pattern, kind, text in self.last_words if pattern.search(output)), None)


class CallFailed(MachineError):
    """A call returned a status that is not success."""

    def __init__(self, symbols: Symbols, verb: str, status: int, description: str) -> None:
        blamed = symbols.faults.get(status) or (symbols.refusals.get(status) if verb.startswith("launch") else None)
        self.call = symbols.functions[verb]
        self.status = status
        self.fault: FindingKind | None = blamed[0] if blamed else None  # the kind of finding, when a kernel caused it
        self.lost = status in symbols.lost  # only another process, or another machine, can go on
        super().__init__(f"{blamed[1]} ({description})" if blamed else f"{self.call} failed on the GPU ({description})")

    @property
    def out_of_memory(self) -> bool:
        """The device's memory did not suffice."""
        return self.status == OUT_OF_MEMORY

    @property
    def is_unclear(self) -> bool:
        """Not even the driver knows the cause: it may be a kernel or the device."""
        return self.status == UNKNOWN


class Library:
    """An opened driver library: its functions by our verbs."""

    def __init__(self, symbols: Symbols, library: str | None = None) -> None:
        """MachineError when the library is missing or finds no device; `library` is opened instead of the usual one."""
        self.symbols = symbols
        self._library = _open(symbols, (library,) if library else symbols.libraries)
        self._functions: dict[str, Any] = {}
        self.call("init", 0)

    def has(self, verb: str) -> bool:
        """Report whether this library offers the function; some are newer than the drivers still in use."""
        return verb in self.symbols.functions and hasattr(self._library, self.symbols.functions[verb])

    def call(self, verb: str, *arguments: Any) -> None:
        """Call one function of the table; CallFailed unless it succeeds."""
        function = self._functions.get(verb)
        if function is None:
            name = self.symbols.functions[verb]
            function = self._functions[verb] = getattr(self._library, name, None)
            if function is None:
                raise MachineError(f"the {self.symbols.vendor} driver has no {name}; {self.symbols.remedy}")
        status = function(*arguments)
        if status:
            raise CallFailed(self.symbols, verb, status, self.symbols.describe(self._library, status))


def _open(symbols: Symbols, names: Sequence[str]) -> ctypes.CDLL:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise MachineError(f"there is no {symbols.vendor} GPU driver here ({names[0]} is missing); {symbols.remedy}")
