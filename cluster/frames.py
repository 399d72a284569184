"""Messages between a driver and its bridge: a length, then JSON with bytes as text."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

MOST_BYTES = 64 << 20
_HEAD = 4


def packed(message: dict[str, Any]) -> bytes:
    """Pack a message as it is sent."""
    data = json.dumps(message, separators=(",", ":")).encode()
    return len(data).to_bytes(_HEAD, "big") + data


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """Receive the next message; None at the end, also in the middle of one."""
    head = _exactly(connection, _HEAD)
    data = _exactly(connection, int.from_bytes(head, "big")) if head else None
    return json.loads(data) if data is not None else None


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            part = connection.recv(min(size - len(data), 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        data += part
    return bytes(data)


async def receive_soon(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """Receive the next message in an event loop; None at the end."""
    try:
        size = int.from_bytes(await reader.readexactly(_HEAD), "big")
        message: dict[str, Any] = json.loads(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return message
