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
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, key: Key) -> Value | None:
        """The entry of a key, if it is kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Key, made: Value) -> Value:
        """The entry of a key: this one, unless another was kept meanwhile."""
        with self._lock:
            made = self._kept.setdefault(key, made)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return made

    def values(self) -> list[Value]:
        """All entries, the one used last at the end."""
        with self._lock:
            return list(self._kept.values())

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The entry of a key, made now where it is not kept; of two that are made at once the first stays."""
        known = self.known(key)
        return self.keep(key, make()) if known is None else known
