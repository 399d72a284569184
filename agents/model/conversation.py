"""Turns of a conversation with a model, and an answer as it came: plain records that can be stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from records.codec import dumps, loads
from records.experiment import Usage

_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})


@dataclass(frozen=True)
class ToolCall:
    """One request of the model for a tool; `arguments` is JSON as the model wrote it, perhaps none at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One turn of a conversation. An assistant's turn may call tools; a tool's turn answers one call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    def row(self) -> list[Any]:
        """The turn as it is stored and keyed: role and text, and what it calls or answers."""
        row: list[Any] = [self.role, self.content]
        if self.calls:
            row.append([[c.id, c.name, c.arguments] for c in self.calls])
        return [*row, self.call_id] if self.call_id else row

    def document(self) -> dict[str, Any]:
        """The turn in the words of the chat-completions interface."""
        if self.role == "tool":
            return {"role": "tool", "tool_call_id": self.call_id, "content": self.content}
        if not self.calls:
            return {"role": self.role, "content": self.content}
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in self.calls
        ]
        return {"role": self.role, "content": self.content, "tool_calls": calls}


@dataclass(frozen=True)
class RawReply:
    """An answer as it came: text, reason of its end, cost. It is stored as JSON before anything reads it."""

    text: str
    finish_reason: str
    model: str
    usage: Usage
    counted: bool = True  # whether the server counted the tokens, or we estimated them
    calls: tuple[ToolCall, ...] = ()

    @property
    def is_cut(self) -> bool:
        """True where the token limit ended the answer."""
        return self.finish_reason.lower() in _CUT

    def to_text(self) -> str:
        """The stored form."""
        return dumps(self)

    @staticmethod
    def from_text(text: str) -> RawReply:
        """Read the stored form."""
        return loads(RawReply, text)


def transcribed(messages: Sequence[Message]) -> str:
    """The conversation as it is stored beside its answer."""
    return json.dumps([m.row() for m in messages], ensure_ascii=False)
