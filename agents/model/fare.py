"""The money of one request to a model, from before it is sent until its answer says what it cost.

Its least is that of the room that the next answer is as likely as not to fit into, by the role's answers so far.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import replace

from agents.model.price import Price
from records.allowance import Allowance
from records.experiment import ModelCall, Usage
from records.ledger import Ledger

KEPT = 64  # answers of a role: what it is asked changes in the course of a run


class Fare:
    """Set aside before each sending; given back where nothing can have been billed, and else spent."""

    def __init__(
        self,
        ledger: Ledger,
        call: ModelCall,
        least: ModelCall,
        most: Callable[[], Allowance],
        may_go_on: Callable[[], None],
        seconds_left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Take the call with its longest answer, and `least` with the shortest one that is worth asking for.

        `may_go_on` raises where time is up, and `seconds_left` says how long that is from now.
        """
        self.seconds_left = seconds_left
        self._ledger, self._call, self._least = ledger, call, least
        self._most, self._may_go_on = most, may_go_on
        self.held: ModelCall | None = None  # as it is set aside

    @property
    def max_tokens(self) -> int:
        """Tokens that the answer may have, by what is set aside for it."""
        return (self._call if self.held is None else self.held).usage.completion_tokens

    def set_aside(self) -> ModelCall:
        """Before each sending. The stored call where it was answered; LimitReached where it may not be sent."""
        if self.held is None:
            self._may_go_on()
            call = self._ledger.reserve(self._call, self._most(), self._least)
            if call.state == "done":
                return call
            self.held = call
        return self.held

    def lose(self) -> None:
        """After a sending that may have been billed, whose answer did not come."""
        if self.held is not None:
            self._ledger.lose(self._call.key)
            self.held = None

    def give_back(self) -> None:
        """After a sending that cost nothing, or none at all."""
        if self.held is not None:
            self._ledger.release(self._call.key)
            self.held = None


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


def with_answer(call: ModelCall, price: Price, prompt_tokens: int, max_tokens: int) -> ModelCall:
    """Return the call with the most that it costs where its answer may have so many tokens."""
    return replace(
        call, reserved_usd=price.worst_usd(prompt_tokens, max_tokens), usage=Usage(prompt_tokens, max_tokens)
    )
