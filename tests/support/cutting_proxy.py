"""A proxy before a database server that cuts a connection at a chosen message, before the server sees it or after."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from typing import Literal

SILENCE_S = 0.3
When = Literal["before", "after"]


class CuttingProxy:
    """Hands bytes on both ways. `messages` counts the client's, over all connections."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self.messages, self.cuts = 0, 0
        self._at: tuple[int, When] | None = None
        self._turn = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, after: int, when: When) -> None:
        """Cut the connection of the message that comes after so many others from now on."""
        with self._turn:
            self._at = (self.messages + after, when)

    def close(self) -> None:
        self._door.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._server)) as server:
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if server in ready:
                    data = server.recv(1 << 16)
                    if not data:
                        return
                    client.sendall(data)
                if client in ready and not self._asked(client, server):
                    return

    def _asked(self, client: socket.socket, server: socket.socket) -> bool:
        """Hand one message on; False where the connection ends."""
        data = client.recv(1 << 16)
        if not data:
            return False
        with self._turn:
            when = self._at[1] if self._at is not None and self._at[0] == self.messages else None
            self.messages += 1
            self._at = None if when else self._at
            self.cuts += when is not None
        if when != "before":
            server.sendall(data)
        if when == "after":
            ready, _, _ = select.select([server], [], [], SILENCE_S)  # a part of a pipeline has no answer of its own
            _ = server.recv(1 << 16) if ready else b""  # so that the server has done it, and nobody hears of it
        return when is None
