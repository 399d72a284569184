"""A prompt and an answer fitted to a model's window: the parts of the prompt that matter least go first, and are named.

A message says itself which of its parts may be left out, in their order (`Message.spare`). Of a long conversation the
oldest results go before them: what a writer was told ten turns ago it has answered since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.model.conversation import Message, Spare

PLENTY = 3  # the answer may be cut down to a third of the window before a part of the prompt is left out
LEAST = 256  # tokens of an answer, below which no request is made
RESERVE = 64  # tokens of a chat template that nobody counts
KEPT_TURNS = 4  # of a conversation's end
SHORT_CHARS = 400  # results below stay as they are
GONE = "(left out: it was too much for this model's window)"


@dataclass(frozen=True)
class ModelSizes:
    """Sizes of a model as far as they are known; each may only fall."""

    window: int | None = None
    answer: int | None = None
    bytes_per_token: float = 3.0

    def narrowed(self, window: int | None, answer: int | None) -> ModelSizes:
        """Return the smaller of both."""
        return replace(self, window=_least(self.window, window), answer=_least(self.answer, answer))


@dataclass(frozen=True)
class FittedPrompt:
    """The part that is sent: turns, tokens of the answer, and the names of what was left out."""

    talk: tuple[Message, ...]
    max_tokens: int
    left_out: tuple[str, ...] = ()


def fit(
    talk: Sequence[Message], extra_bytes: int, answer_tokens: int, sizes: ModelSizes, least: int = 0
) -> FittedPrompt | None:
    """Fit the conversation and the answer within the sizes; None where no answer of `least` tokens has room.

    `extra_bytes`: of the tools and schemas that go with it.
    """
    most = min(answer_tokens, sizes.answer or answer_tokens)
    if most < least:
        return None
    if sizes.window is None:
        return FittedPrompt(tuple(talk), most)
    window = sizes.window - RESERVE - sizes.window // 50
    floor = max(least, min(most, max(LEAST, window // PLENTY)))
    turns, omitted = list(talk), list[str]()
    for number, spare in [*_old_results(turns), *_spares(turns)]:
        if _tokens(turns, extra_bytes, sizes) + floor <= window:
            break
        original = turns[number].content
        content = original.replace(spare.text, f"(left out to fit the window: {spare.name})", 1)
        turns[number] = replace(turns[number], content=GONE if spare.text == original else content)
        omitted.append(spare.name)
    room = window - _tokens(turns, extra_bytes, sizes)
    if room < max(least, min(LEAST, most)):
        return None
    return FittedPrompt(tuple(turns), min(most, room), tuple(dict.fromkeys(omitted)))


def tokens_of(talk: Sequence[Message], extra_bytes: int, sizes: ModelSizes) -> int:
    """Count the tokens of a prompt as far as they are known."""
    return _tokens(talk, extra_bytes, sizes)


def size_of(talk: Sequence[Message]) -> int:
    """Bytes of a conversation."""
    return sum(
        len(m.content.encode("utf-8", "replace")) + 24 + sum(len(c.arguments) + len(c.name) + 32 for c in m.calls)
        for m in talk
    )


def _tokens(talk: Sequence[Message], extra_bytes: int, sizes: ModelSizes) -> int:
    return int((size_of(talk) + extra_bytes) / sizes.bytes_per_token) + 1


def _old_results(talk: Sequence[Message]) -> list[tuple[int, Spare]]:
    """Long results and answers of the turns before the last few, the oldest first; never the task, never the calls."""
    first = next((n for n, m in enumerate(talk) if m.role == "assistant"), len(talk))
    old = range(first, max(first, len(talk) - KEPT_TURNS))
    return [(n, Spare("results of earlier turns", talk[n].content)) for n in old if len(talk[n].content) > SHORT_CHARS]


def _spares(talk: Sequence[Message]) -> list[tuple[int, Spare]]:
    return [(n, spare) for n, m in enumerate(talk) for spare in m.spare if spare.text and spare.text in m.content]


def _least(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else min(left, right)
