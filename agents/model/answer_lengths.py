"""Lengths of a role's answers so far: the room that the next one is as likely as not to fit into."""

from __future__ import annotations

import math
from collections import defaultdict, deque

KEPT = 64  # answers of a role: what it is asked changes in the course of a run


class AnswerLengths:
    """Tokens of answers by role; one that was cut off would have been longer than any room."""

    def __init__(self) -> None:
        """Begin without an answer."""
        self._tokens: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))

    def add(self, role: str, tokens: int, is_cut: bool) -> None:
        """Count an answer."""
        self._tokens[role].append(math.inf if is_cut else tokens)

    def likely(self, role: str) -> float | None:
        """Return the tokens that the next answer fits into with a chance of a half or more; None before the first.

        Of n answers before it, the k-th shortest is no shorter than the next with the chance k / (n + 1), whatever
        their distribution is.
        """
        tokens = sorted(self._tokens[role])
        return tokens[len(tokens) // 2] if tokens else None
