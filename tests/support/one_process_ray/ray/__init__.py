"""A Ray of one process for tests: an actor is an object of the process that makes it; nodes are what a variable says.

`FAKE_RAY_REFUSAL` is what `init` says to whoever joins; `FAKE_RAY_NODES` are the nodes' resources, in JSON.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from collections.abc import Callable
from typing import Any


def init(**options: Any) -> None:
    """Join, or be refused as Ray refuses."""
    if os.environ.get("FAKE_RAY_REFUSAL"):
        raise RuntimeError(os.environ["FAKE_RAY_REFUSAL"])


def nodes() -> list[dict[str, Any]]:
    """The nodes, all alive."""
    rows = json.loads(os.environ["FAKE_RAY_NODES"])
    own = {"NodeManagerAddress": "127.0.0.1", "Alive": True}
    return [{"NodeID": f"{n:032x}", "NodeName": f"n{n}", "Resources": row, **own} for n, row in enumerate(rows)]


def kill(actor: object) -> None:
    """End an actor: there is no process of its own."""


def remote(made: type) -> _ActorClass:
    """A class whose objects are actors."""
    return _ActorClass(made)


class _ActorClass:
    def __init__(self, made: type) -> None:
        self._made = made

    def options(self, **options: Any) -> _ActorClass:
        return self

    def remote(self, *words: Any) -> _Actor:
        return _Actor(self._made(*words))


class _Actor:
    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> _Method:
        return _Method(getattr(self._inner, name), name)


class _Method:
    def __init__(self, call: Callable[..., Any], name: str) -> None:
        self._call, self._method_name = call, name

    def remote(self, *words: Any) -> Any:
        if inspect.iscoroutinefunction(self._call):
            return self._call(*words)
        return asyncio.to_thread(self._call, *words)
