"""A bounded memory of what was made last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The entries used last, up to a number of them. Safe for threads, of which two may make the same entry."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, key: Key) -> Value | None:
        """Look up the entry of a key; None where it is not kept."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def keep(self, key: Key, value: Value) -> Value:
        """Keep this entry of a key, unless another was kept meanwhile, and return the one that is kept."""
        with self._lock:
            value = self._entries.setdefault(key, value)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
            return value

    def values(self) -> list[Value]:
        """List all entries, the one used last at the end."""
        with self._lock:
            return list(self._entries.values())

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the entry of a key, made now where it is not kept; of two that are made at once the first stays."""
        value = self.known(key)
        return self.keep(key, make()) if value is None else value
