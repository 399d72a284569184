"""Properties of objects that threads share, computed by one of them."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class computed_once(Generic[Value]):
    """A property that the first thread to ask for computes, while others that ask for it on this object wait.

    `functools.cached_property` lets two threads compute it from Python 3.12 on, and each goes on with its own value; in
    Python 3.11 one lock serves all objects, so that nothing is computed for two of them at a time.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        """Take `compute`, which gets the object; what it raises reaches whoever asks, and the next one tries again."""
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name from the class that it is defined in."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """Give the value; it lies in the object's `__dict__` from then on and is found there before this is asked."""
        if instance is None:
            return self
        values, lock = instance.__dict__, f"{self._name}, under way"
        with values.setdefault(lock, RLock()):
            if self._name not in values:
                values[self._name] = self._compute(instance)
            values.pop(lock, None)
        value: Value = values[self._name]
        return value
