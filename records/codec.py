"""Records to plain JSON values and back, by their type hints. No pickle, no class names in the data."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def to_plain(value: Any) -> Any:
    """Turn a record into dicts, lists and scalars."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def from_plain(kind: type[Record], value: Any) -> Record:
    """Build a record from plain values; unknown keys are refused with a ValueError that names them."""
    return _build(kind, value)  # type: ignore[no-any-return]


def dumps(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, so that equal records have equal text."""
    return json.dumps(to_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def loads(kind: type[Record], text: str) -> Record:
    """Build a record from `dumps` text."""
    return from_plain(kind, json.loads(text))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _build(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        unknown = set(value) - set(hints)
        if unknown:
            raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
        return kind(**{name: _build(hints[name], item) for name, item in value.items()})
    origin, args = get_origin(kind), get_args(kind)
    if origin is tuple:
        return tuple(_build(args[0], item) for item in value)
    if origin in (Union, types.UnionType):
        inner = next(a for a in args if a is not type(None))
        return None if value is None else _build(inner, value) if dataclasses.is_dataclass(inner) else value
    if origin is Literal:
        if value not in args:
            raise ValueError(f"{value!r} is none of {args}")
        return value
    if origin is not None and issubclass(origin, Mapping):
        return {k: _build(args[1], v) for k, v in value.items()}
    if kind is float and isinstance(value, int):
        return float(value)
    return value
