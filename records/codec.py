"""Records to plain JSON values and back, by their type hints. No pickle, no class names in the data.

The hints of a class are read once: each class gets one function that builds it, and one list of its fields.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")
Builder = Callable[[Any], Any]
_SCALARS = frozenset({str, int, float, bool, type(None)})


def to_plain(value: Any) -> Any:
    """Turn a record into dicts, lists and scalars."""
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is list:
        return [v if type(v) in _SCALARS else to_plain(v) for v in value]
    if kind is dict or isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if names := _field_names(kind):
        return {name: to_plain(getattr(value, name)) for name in names}
    return [to_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def from_plain(kind: type[Record], value: Any) -> Record:
    """Build a record from plain values; unknown keys are refused with a ValueError that names them."""
    untyped_kind: Any = kind
    build = _builder(untyped_kind)
    return value if build is None else build(value)  # type: ignore[no-any-return]


def dumps(value: Any) -> str:
    """Write canonical JSON: sorted keys, no spaces, so that equal records have equal text."""
    return _CANONICAL.encode(value)


def loads(kind: type[Record], text: str) -> Record:
    """Build a record from `dumps` text."""
    return from_plain(kind, json.loads(text))


def as_stored(record: Record) -> Record:
    """Return the record as whoever reads it from the ledger gets it: equal, with its mappings in the text's order.

    What is built from a record, a prompt above all, is then the same whether the record was just made or was read.
    """
    return loads(type(record), dumps(record))


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    """Name the fields of a dataclass; none for any other type."""
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


def _opened(value: Any) -> Any:
    """Open one level of a record or mapping, for the encoder, which takes lists, tuples, dicts, scalars as they are."""
    kind: Any = type(value)
    if names := _field_names(kind):
        attributes: dict[str, Any] = value.__dict__  # of a frozen record: its fields, and what a cached property keeps
        return attributes if len(attributes) == len(names) else {name: attributes[name] for name in names}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no place in a record")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_opened)


@cache
def _builder(kind: Any) -> Builder | None:
    """Build the function from plain values to this type; None where plain values stay as they are."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _of_record(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _of_tuple(_builder(args[0]))
    if origin in (Union, types.UnionType):
        return _of_optional(next(a for a in args if a is not type(None)))
    if origin is Literal:
        return _of_words(args)
    if origin is not None and issubclass(origin, Mapping):
        return _of_mapping(_builder(args[1]))
    return _real if kind is float else None


def _of_record(kind: type) -> Builder:
    hints = get_type_hints(kind)
    field_names = hints.keys()
    builders = tuple((name, build) for name, hint in hints.items() if (build := _builder(hint)) is not None)

    def build_record(value: Mapping[str, Any]) -> Any:
        if not value.keys() <= field_names:
            raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(value.keys() - field_names))}")
        fields = dict(value)
        for name, build in builders:
            if name in fields:
                fields[name] = build(fields[name])
        return kind(**fields)

    return build_record


def _of_tuple(build: Builder | None) -> Builder:
    return tuple if build is None else lambda value: tuple(map(build, value))


def _of_optional(inner: Any) -> Builder | None:
    build = _builder(inner) if _field_names(inner) else None
    return None if build is None else lambda value: None if value is None else build(value)


def _of_mapping(build: Builder | None) -> Builder:
    return dict if build is None else lambda value: {k: build(v) for k, v in value.items()}


def _of_words(words: tuple[Any, ...]) -> Builder:
    def build_word(value: Any) -> Any:
        if value not in words:
            raise ValueError(f"{value!r} is none of {words}")
        return value

    return build_word


def _real(value: Any) -> Any:
    return float(value) if isinstance(value, int) else value
