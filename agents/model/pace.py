"""Requests and tokens a minute: by the settings, and by what the server's headers say is left.

A caller is told how long to wait before its request; it waits itself. What the headers of different services call a
limit is for a minute here and for a day there, so that only what is *left* is believed, and when it is new.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

from agents.model.server_waits import moment_s, server_clock

MINUTE_S = 60.0
LONGEST_S = 120.0  # by headers alone: after that a request finds out
_HEADERS = {
    "requests": (
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
        ("x-ratelimit-remaining", "x-ratelimit-reset"),
        ("ratelimit-remaining", "ratelimit-reset"),
    ),
    "tokens": (
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ),
}


class Pace:
    """The moment at which the next request may go, for all callers of one endpoint."""

    def __init__(self, requests: int | None, tokens: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Keep to at most so many `requests` and `tokens` a minute; None without a limit."""
        self._most = {"requests": requests, "tokens": tokens}
        self._clock = clock
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()  # moment and tokens of the last minute
        self._left: dict[
            str, tuple[float, float, float]
        ] = {}  # by the headers: what is left until which moment, of how much
        self._held_until, self._holder = 0.0, 0

    def admit(self, tokens: int, caller: int = 0) -> float:
        """Take a place for a request of so many tokens, and tell the seconds until it may go."""
        with self._lock:
            now = self._clock()
            start = max(
                now,
                self._held_until if caller != self._holder else now,
                self._by_headers("requests", 1, now),
                self._by_headers("tokens", tokens, now),
            )
            start = self._by_settings(start, tokens)
            self._sent.append((start, tokens))
            return start - now

    def learn(self, headers: Mapping[str, str]) -> None:
        """Note what a response's headers say is left."""
        now = server_clock(headers)
        with self._lock:
            for resource, names in _HEADERS.items():
                for left, reset in names:
                    seconds, remaining = moment_s(headers.get(reset, ""), now), _count(headers.get(left, ""))
                    if remaining is not None and seconds is not None:
                        most = _count(headers.get(left.replace("remaining", "limit"), ""))
                        until = self._clock() + min(seconds, LONGEST_S)
                        self._left[resource] = (remaining, until, math.inf if most is None else most)
                        break

    def hold(self, seconds: float, caller: int = 0) -> None:
        """Let nobody else go for so long: a server has said so to one caller, who waits by itself."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + min(seconds, LONGEST_S))
            self._holder = caller

    def _by_headers(self, resource: str, needed: float, now: float) -> float:
        left, until, most = self._left.get(resource, (0.0, 0.0, 0.0))
        if until <= now:
            self._left.pop(resource, None)
            return now
        needed = min(needed, most)  # one above the limit goes alone
        self._left[resource] = (max(0.0, left - needed), until, most)
        return now if left >= needed else until

    def _by_settings(self, start: float, tokens: int) -> float:
        """Return the first moment at which the minute before it has room for one more."""
        requests, most = self._most["requests"], self._most["tokens"]
        while self._sent and self._sent[0][0] <= self._clock() - MINUTE_S:
            self._sent.popleft()
        for moment, _ in [*self._sent, (start, 0)]:
            before = [t for m, t in self._sent if start - MINUTE_S < m]
            too_many = requests is not None and len(before) >= requests
            too_much = most is not None and bool(before) and sum(before) + min(tokens, most) > most
            if not (too_many or too_much):
                return start
            start = max(start, moment + MINUTE_S)
        return start


def _count(value: str) -> float | None:
    return float(value) if value.strip().isdecimal() and len(value) < 16 else None
