"""A vendor's driver library by ctypes: every call is checked, and a failure says whether a kernel caused it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from records.errors import MachineError
from sandbox.gpu.driver.symbols import OUT_OF_MEMORY, UNKNOWN, Symbols


class CallFailed(MachineError):
    """A call returned a status that is not success."""

    def __init__(self, symbols: Symbols, verb: str, status: int, said: str) -> None:
        blamed = symbols.faults.get(status) or (symbols.refusals.get(status) if verb == "launch" else None)
        self.call = symbols.functions[verb]
        self.status = status
        self.fault = blamed[0] if blamed else None  # the kind of finding, when a kernel caused it
        self.lost = status in symbols.lost  # only another process, or another machine, can go on
        super().__init__(f"{blamed[1]} ({said})" if blamed else f"{self.call} failed on the GPU ({said})")

    @property
    def out_of_memory(self) -> bool:
        """Whether the device's memory did not suffice."""
        return self.status == OUT_OF_MEMORY

    @property
    def is_unclear(self) -> bool:
        """Whether not even the driver knows what has happened: a kernel may have done it, or the device."""
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
        """Whether this library offers the function; some are newer than the drivers still in use."""
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
