"""Tools as a model is offered them, and the small question that shows whether it calls any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from agents.model.conversation import Message, RawReply
from records.errors import ModelRefused

_LEFT_OUT = frozenset({"title", "default"})


class ToolsRefused(ModelRefused):
    """The endpoint refuses requests that offer tools; the same work can be asked for in plain text."""


@dataclass(frozen=True)
class Tool:
    """One tool: its name, a sentence on it, and the form of its arguments."""

    name: str
    description: str
    arguments: type[BaseModel]

    def document(self) -> dict[str, Any]:
        """Put the tool in the words of the chat-completions interface."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema()}
        return {"type": "function", "function": function}

    def schema(self) -> dict[str, Any]:
        """Build the JSON schema of the arguments; what has a default may be left out."""
        schema: dict[str, Any] = _plain(self.arguments.model_json_schema())
        return schema


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _plain(inner) for name, inner in value.items()} if key in ("properties", "$defs") else _plain(value)
        for key, value in node.items()
        if key not in _LEFT_OUT
    }


class _Answer(BaseModel):
    answer: str = Field(description="one word")


PONG = Tool("pong", "Give the answer of the test.", _Answer)
QUESTION = (Message("system", "You are being tested."), Message("user", "Call the tool `pong` with the answer pong."))
QUESTION_TOKENS = 512  # enough for a model that thinks before it calls


def calls_a_tool(reply: RawReply) -> bool:
    """Tell whether the answer to QUESTION calls the tool that was offered."""
    return any(call.name == PONG.name for call in reply.calls)
