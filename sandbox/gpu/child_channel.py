"""The channel between the judge and a process of its own: records over a socket pair, and files beside them.

On the wire a message is one JSON object: its record's name and its fields. `decode` accepts it only when every field is
there and of its type; a record may refuse values in its `__post_init__` with a ValueError.
"""

from __future__ import annotations

import array
import json
import os
import socket
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from records.codec import from_plain, to_plain
from records.outside_text import decoded

_HEADER = 8
MAX_BYTES = 64 << 20
MOST_FILES = 16
Message = TypeVar("Message")


class Closed(Exception):
    """The other side has gone."""


class Late(Exception):
    """The other side did not answer in time."""


class Malformed(Exception):
    """A message that is none of those expected, or not as it must be."""


class ChildChannel:
    """One end of a socket pair."""

    def __init__(self, end: socket.socket, takes_files: bool = False) -> None:
        """Without `takes_files` the descriptors that arrive are closed by the system: the judge takes none."""
        self._end, self._ancillary = end, socket.CMSG_SPACE(MOST_FILES * 4) if takes_files else 0

    def send(self, message: object, files: Sequence[int] = ()) -> None:
        """Send one record; the descriptors are duplicated into the other process. Closed when it has gone."""
        body = encode(message)
        head = len(body).to_bytes(_HEADER, "little")
        try:
            if files:
                socket.send_fds(self._end, [head], list(files))
                self._end.sendall(body)
            else:
                self._end.sendall(head + body)
        except OSError:
            raise Closed from None

    def receive(self, kinds: Sequence[type[Message]], timeout_s: float | None = None) -> tuple[Message, list[int]]:
        """Wait for the next record, of one of these kinds; return it with its descriptors.

        Late after the time, Closed when the other side has gone, Malformed when it sent something else.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        files = list[int]()
        try:
            size = int.from_bytes(self._take_head(files, deadline), "little")
            if size > MAX_BYTES:
                raise Malformed(f"a message of {size} bytes")
            return decode(self._take(size, deadline), kinds), files
        except BaseException:
            for handle in files:
                os.close(handle)
            raise

    def _take_head(self, files: list[int], deadline: float | None) -> bytes:
        head = b""
        while len(head) < _HEADER:
            self._limit(deadline)
            try:
                data, ancillary, _, _ = self._end.recvmsg(_HEADER - len(head), self._ancillary)
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    numbers = array.array("i")
                    numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
                    files += list(numbers)
            if not data:
                raise Closed
            head += data
        return head

    def _take(self, size: int, deadline: float | None) -> bytes:
        body = bytearray()
        while len(body) < size:
            self._limit(deadline)
            try:
                data = self._end.recv(min(1 << 20, size - len(body)))
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            if not data:
                raise Closed
            body += data
        return bytes(body)

    def _limit(self, deadline: float | None) -> None:
        """Let the next read take the time that is left."""
        if deadline is None:
            self._end.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise Late
        self._end.settimeout(left)

    def close(self) -> None:
        """Close this end."""
        self._end.close()


def encode(message: object) -> bytes:
    """Encode a record as it goes over the wire."""
    fields = {name: to_plain(value) for name, value in vars(message).items()}
    return json.dumps({"kind": type(message).__name__, "fields": fields}, separators=(",", ":")).encode()


def decode(data: bytes, kinds: Sequence[type[Message]]) -> Message:
    """Read the record that `encode` wrote. Malformed unless it is one of these kinds and complete in every field."""
    try:
        record = decoded(data)
        if not isinstance(record, dict) or record.keys() != {"kind", "fields"}:
            raise Malformed("not a message")
        kind = next((k for k in kinds if k.__name__ == record["kind"]), None)
        if kind is None or not conforms(kind, record["fields"]):
            raise Malformed("another message than those expected")
        return from_plain(kind, record["fields"])
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None


def conforms(kind: Any, value: Any) -> bool:
    """Report whether a plain value is exactly of a type: no field missing or unknown, no bool for an int."""
    return _checker(kind)(value)


@cache
def _checker(kind: Any) -> Callable[[Any], bool]:
    """Make the check of a type, once."""
    if isinstance(kind, type) and is_dataclass(kind):
        fields = {name: _checker(hint) for name, hint in get_type_hints(kind).items()}
        return lambda value: (
            isinstance(value, dict)
            and value.keys() == fields.keys()
            and all(check(value[name]) for name, check in fields.items())
        )
    origin, args = get_origin(kind), get_args(kind)
    if origin is tuple and args[-1] is ...:
        item = _checker(args[0])
        return lambda value: isinstance(value, list) and all(map(item, value))
    if origin is tuple:
        items = tuple(map(_checker, args))
        return lambda value: (
            isinstance(value, list)
            and len(value) == len(items)
            and all(check(element) for check, element in zip(items, value, strict=True))
        )
    if origin in (Union, types.UnionType):
        kinds = tuple(map(_checker, args))
        return lambda value: any(check(value) for check in kinds)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in args
    if origin is not None and issubclass(origin, Mapping):
        item = _checker(args[1])
        return lambda value: isinstance(value, dict) and all(map(item, value.values()))
    exact = (int, float) if kind is float else (kind,)
    return lambda value: type(value) in exact
