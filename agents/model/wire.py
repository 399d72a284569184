"""A request without its wire format, an answer without it, and what each of the formats does: one small class a format.

`ChatCompletions` (agents/model/chat_wire.py), `ToolsInText` (the same without tools, whose turns are told in words) and
`Responses` (agents/model/responses_wire.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agents.model.conversation import Message, ToolCall
from agents.model.forms import Forms


@dataclass(frozen=True)
class ModelRequest:
    """The request, in no format yet. `response_format` is that of chat completions, `tools` too."""

    model: str
    talk: tuple[Message, ...]
    max_tokens: int
    forms: Forms
    response_format: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    temperature: float | None = None
    effort: str = ""
    within_s: float = math.inf  # a request that takes longer is cut

    def parts(self) -> frozenset[str]:
        """List the parts that this request has, of those with simpler forms."""
        presence = {
            "wire": True,
            "roles": any(m.role == "system" for m in self.talk) or len(self.talk) > 2,
            "token_field": self.forms.wire == 0,
            "temperature": self.temperature is not None and not self.forms.temperature,
            "effort": bool(self.effort) and not self.forms.effort,
            "json_mode": self.response_format is not None,
            "tools": bool(self.tools),
        }
        return frozenset(name for name, is_there in presence.items() if is_there)


class NotAnAnswer(ValueError):
    """A document that is no answer of this format; `document` is what it was."""

    def __init__(self, why: str, document: Any = None) -> None:
        super().__init__(why)
        self.document = document


@dataclass(frozen=True)
class WireReply:
    """An answer out of its wire format: nothing is trusted, nothing is lost."""

    text: str = ""
    thinking: str = ""
    refusal: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    usage: Any = None  # as the server wrote it
    tier: Any = None  # of service


class Wire(Protocol):
    """One format on the wire."""

    path: str

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Build the document to post."""

    def read(self, document: Any) -> WireReply:
        """Read the parts of an answer; NotAnAnswer where it is none."""


def plain_roles(talk: Sequence[Message]) -> tuple[Message, ...]:
    """Return the conversation without the role `system` and without two turns of one role in a row."""
    turns = list[Message]()
    for message in talk:
        turn = replace(message, role="user") if message.role == "system" else message
        last = turns[-1] if turns else None
        if last is not None and last.role == turn.role and turn.role in ("user", "assistant") and not last.calls:
            turns[-1] = replace(turn, content=f"{last.content}\n\n{turn.content}".strip())
        else:
            turns.append(turn)
    return tuple(turns)


def in_text(talk: Sequence[Message]) -> list[Message]:
    """Write a conversation with tool calls as one of plain turns."""
    turns = []
    for message in talk:
        if message.role == "tool":
            turns.append(Message("user", f"Result:\n\n{message.content}"))
        else:
            requests = [f'```tool\n{{"tool": "{c.name}", "arguments": {c.arguments}}}\n```' for c in message.calls]
            content = "\n\n".join(filter(None, [message.content, *requests]))
            turns.append(replace(message, content=content, calls=()))
    return turns


def text_of(content: Any) -> str:
    """Read the text of a content field: a text, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "".join(p if isinstance(p, str) else _text(p) for p in parts)


def _text(part: Any) -> str:
    if not isinstance(part, Mapping) or str(part.get("type", "text")) in ("thinking", "reasoning", "refusal"):
        return ""
    text = part.get("text", "")
    return text if isinstance(text, str) else ""


def call_of(call_id: Any, name: Any, arguments: Any, number: int) -> ToolCall:
    """Read a call, whatever shape a server gave it."""
    text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    return ToolCall(str(call_id or f"call_{number}"), str(name or ""), text)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}
