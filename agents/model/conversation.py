"""Turns of a conversation with a model, and an answer as it came: plain records that can be stored."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from records.codec import dumps, loads
from records.experiment import Usage

# How servers name an end that is none. A reason that no table knows counts as one where it has such a word in it.
_SHORT = re.compile(r"length|max|limit|incomplete|truncat")
_STOPPED = re.compile(r"filter|abort|cancel|error|interrupt|safety|recitation|time.?out")


@dataclass(frozen=True)
class ToolCall:
    """One request of the model for a tool; `arguments` is JSON as the model wrote it, perhaps none at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Spare:
    """A part of a turn's text that may be left out where a model's window is too small."""

    name: str
    text: str


@dataclass(frozen=True)
class Message:
    """One turn of a conversation. An assistant's turn may call tools; a tool's turn answers one call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    spare: tuple[Spare, ...] = ()  # what may be left out, least important first; no part of what is stored and keyed

    def row(self) -> list[Any]:
        """Return the turn as it is stored and keyed: role and text, and what it calls or answers."""
        row: list[Any] = [self.role, self.content]
        if self.calls:
            row.append([[c.id, c.name, c.arguments] for c in self.calls])
        return [*row, self.call_id] if self.call_id else row


@dataclass(frozen=True)
class RawReply:
    """An answer as it came: text, reason of its end, cost. It is stored as JSON before anything reads it."""

    text: str
    finish_reason: str
    model: str
    usage: Usage
    counted: bool = True  # whether the server counted the tokens, or we estimated them
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""  # what the model thought aloud, where the server tells it apart
    limit: int = 0  # tokens that the answer was allowed; 0 where an older program stored it
    left_out: tuple[str, ...] = ()  # parts of the prompt that the window had no room for

    @property
    def is_cut(self) -> bool:
        """True where the token limit, a filter or a fault of the server ended the answer."""
        reason = self.finish_reason.lower()
        is_something = bool(self.text.strip() or self.calls)
        return bool(_SHORT.search(reason) or (is_something and _STOPPED.search(reason)))

    def allowed(self, otherwise: int) -> int:
        """Tokens that the answer was allowed; what was asked for where that is not stored."""
        return self.limit if self.limit > 0 else otherwise

    def to_text(self) -> str:
        """Return the stored form."""
        return dumps(self)

    @staticmethod
    def from_text(text: str) -> RawReply:
        """Read the stored form."""
        return loads(RawReply, text)


def transcribed(messages: Sequence[Message]) -> str:
    """Write the conversation as it is stored beside its answer."""
    return json.dumps([m.row() for m in messages], ensure_ascii=False)
