"""OpenAI's Responses interface, which some models are served by alone. Nothing is kept on the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.model.conversation import Message, ToolCall
from agents.model.wire import ModelRequest, NotAnAnswer, WireReply, call_of, mapping, plain_roles, text_of


class Responses:
    """The newer of OpenAI's two formats."""

    path = "/responses"

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Build the document to post."""
        forms = request.forms
        talk = plain_roles(request.talk) if forms.roles else request.talk
        body: dict[str, Any] = {"model": request.model, "max_output_tokens": request.max_tokens, "store": False}
        body["input"] = [item for m in talk for item in _items(m)]
        if request.tools:
            functions = [mapping(tool.get("function")) for tool in request.tools]
            body["tools"] = [{"type": "function", "strict": False, **f} for f in functions]
            body |= {} if forms.tools else {"tool_choice": "auto"}
        if request.response_format is not None:
            body["text"] = {"format": _format(request.response_format)}
        if request.temperature is not None and not forms.temperature:
            body["temperature"] = request.temperature
        if request.effort and not forms.effort:
            body["reasoning"] = {"effort": request.effort}
        return body

    def read(self, document: Any) -> WireReply:
        """Read the parts of an answer's items."""
        answer = mapping(document)
        listed = answer.get("output")
        if not isinstance(listed, list) or not (listed or answer.get("status") == "incomplete"):
            raise NotAnAnswer("an answer without output", document)
        text, thinking, refusal, calls = "", "", "", list[ToolCall]()
        for item in map(mapping, listed):
            kind = item.get("type")
            if kind == "function_call":
                calls.append(
                    call_of(item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments"), len(calls))
                )
            elif kind == "reasoning":
                thinking += text_of(item.get("summary")) + text_of(item.get("content"))
            elif kind == "message":
                text += text_of(item.get("content"))
                refusal += "".join(_refusal(part) for part in item.get("content") or ())
        return WireReply(
            text, thinking, refusal, tuple(calls), _reason(answer), answer.get("usage"), answer.get("service_tier")
        )


def _items(message: Message) -> list[dict[str, Any]]:
    """One turn as items of the input."""
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.content}]
    messages = [{"role": message.role, "content": message.content}] if message.content or not message.calls else []
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls
    ]
    return [*messages, *calls]


def _format(response_format: Mapping[str, Any]) -> dict[str, Any]:
    """Put the response format of chat completions in the words of this interface."""
    schema = mapping(response_format.get("json_schema"))
    return {"type": response_format.get("type"), **schema} if schema else dict(response_format)


def _reason(answer: Mapping[str, Any]) -> str:
    """Read the reason of the answer's end: only `completed` is a whole one."""
    status = str(answer.get("status") or "completed")
    if status == "completed":
        return "stop"
    return str(mapping(answer.get("incomplete_details")).get("reason") or f"incomplete: {status}")


def _refusal(part: Any) -> str:
    refusal = mapping(part).get("refusal")
    return refusal if isinstance(refusal, str) else ""
