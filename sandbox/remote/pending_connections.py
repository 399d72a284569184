"""Connections to a served worker that have not proved the token yet: few, for a short time, and never in the way.

A newcomer is always let in. Where there are too many, the one that has waited longest goes, of the newcomer's address
where that has its share already, else of the address with the most. So strangers displace each other, and whoever knows
the token needs a place for one exchange of messages only.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Callable

MOST_STRANGERS = 96
MOST_OF_AN_ADDRESS = 48
MOST_NOTES = 20  # on strangers, before only every hundredth is told
SELDOM = 100


class PendingConnections:
    """The strangers of one server. Safe for threads."""

    def __init__(self, note: Callable[[str], None]) -> None:
        """`note` gets a line for people on a stranger, but not on each of a flood."""
        self._note = note
        self._waiting: dict[socket.socket, str] = {}  # by age, with their addresses
        self._lock = threading.Lock()
        self._notes = 0

    def admit(self, connection: socket.socket, address: str) -> None:
        """Give a newcomer a place, another's if need be."""
        with self._lock:
            counts = Counter(self._waiting.values())
            crowded = ""
            if counts[address] >= MOST_OF_AN_ADDRESS:
                crowded = address
            elif len(self._waiting) >= MOST_STRANGERS:
                crowded = counts.most_common(1)[0][0]
            if crowded:
                oldest = next(c for c, a in self._waiting.items() if a == crowded)
                del self._waiting[oldest]
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)  # its own thread closes it
            self._waiting[connection] = address

    def leave(self, connection: socket.socket) -> None:
        """Give the place up: the token is proved, or the connection ends. Leaving twice is fine."""
        with self._lock:
            self._waiting.pop(connection, None)

    def report(self, text: str) -> None:
        """Note what a stranger did, so that a flood of them fills no disk."""
        with self._lock:
            self._notes += 1
            is_noted = self._notes <= MOST_NOTES or self._notes % SELDOM == 0
        if is_noted:
            self._note(text)
