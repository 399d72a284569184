"""Messages between the judge and its child: one JSON object each, with file descriptors for what is large."""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_HEADER = 8
MAX_BYTES = 64 << 20


class Closed(Exception):
    """The other side has gone."""


class Late(Exception):
    """The other side did not answer in time."""


class ChildChannel:
    """One end of a socket pair."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, message: Mapping[str, Any], files: Sequence[int] = ()) -> None:
        """Send one object; the descriptors are duplicated into the other process. Closed when it has gone."""
        body = json.dumps(message).encode()
        try:
            if files:
                socket.send_fds(self._end, [len(body).to_bytes(_HEADER, "little")], list(files))
                self._end.sendall(body)
            else:
                self._end.sendall(len(body).to_bytes(_HEADER, "little") + body)
        except OSError:
            raise Closed from None

    def receive(self, timeout_s: float | None = None) -> tuple[dict[str, Any], list[int]]:
        """The next object and its descriptors. Late after the time, Closed when the other side has gone."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        header, files = b"", list[int]()
        while len(header) < _HEADER:
            self._patience(deadline)
            try:
                data, ancillary, _, _ = self._end.recvmsg(_HEADER - len(header), socket.CMSG_SPACE(16 * 4))
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
            header += data
        return self._body(int.from_bytes(header, "little"), deadline), files

    def _body(self, size: int, deadline: float | None) -> dict[str, Any]:
        if size > MAX_BYTES:
            raise Closed
        body = bytearray()
        while len(body) < size:
            self._patience(deadline)
            try:
                data = self._end.recv(min(1 << 20, size - len(body)))
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            if not data:
                raise Closed
            body += data
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise Closed from None
        if not isinstance(found, dict):
            raise Closed
        return found

    def _patience(self, deadline: float | None) -> None:
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


@contextlib.contextmanager
def shared_file(name: str, data: bytes | npt.NDArray[np.uint8]) -> Iterator[int]:
    """A memory file with these contents, as long as the block lasts."""
    handle = filled_file(name, data)
    try:
        yield handle
    finally:
        os.close(handle)


def filled_file(name: str, data: bytes | npt.NDArray[np.uint8]) -> int:
    """A memory file with these contents; the caller closes it. Never empty, as nothing cannot be mapped."""
    view = memoryview(data if isinstance(data, bytes) else data.data) if len(data) else memoryview(b"\0")
    handle, at = memory_file(name, len(view)), 0
    try:
        while at < len(view):
            at += os.pwrite(handle, view[at : at + (1 << 30)], at)
    except OSError:
        os.close(handle)
        raise
    return handle


def memory_file(name: str, nbytes: int) -> int:
    """A descriptor of anonymous memory of this size."""
    handle = os.memfd_create(name)
    os.ftruncate(handle, nbytes)
    return handle
