"""Chat completions, as OpenAI, vLLM, SGLang, llama.cpp, Ollama, LiteLLM, TGI and most routers serve them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.model.conversation import Message, ToolCall
from agents.model.wire import ModelRequest, NotAnAnswer, WireReply, call_of, in_text, mapping, plain_roles, text_of

# Where servers tell what a model thought: vLLM, SGLang, DeepSeek and llama.cpp; OpenRouter and newer vLLM; others.
THINKING = ("reasoning_content", "reasoning", "thinking", "thoughts")


class ChatCompletions:
    """The format that nearly every server has."""

    path = "/chat/completions"

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Build the document to post."""
        forms = request.forms
        talk = plain_roles(request.talk) if forms.roles else request.talk
        body: dict[str, Any] = {"model": request.model, "messages": [turn(m) for m in talk]}
        body[forms.token_name] = request.max_tokens
        if request.tools:
            body["tools"] = [dict(tool) for tool in request.tools]
            body |= {} if forms.tools else {"tool_choice": "auto"}
        if request.response_format is not None:
            body["response_format"] = dict(request.response_format)
        if request.temperature is not None and not forms.temperature:
            body["temperature"] = request.temperature
        if request.effort and not forms.effort:
            body["reasoning_effort"] = request.effort
        return body

    def read(self, document: Any) -> WireReply:
        """Read the parts of the first choice."""
        answer = mapping(document)
        listed = answer.get("choices")
        choice = mapping(listed[0]) if isinstance(listed, list) and listed else {}
        message = mapping(choice.get("message"))
        if not message and isinstance(choice.get("text"), str):  # some servers answer as the older interface did
            message = {"content": choice["text"]}
        if not message:
            raise NotAnAnswer("an answer without a message", document)
        calls = message.get("tool_calls")
        tool_calls = tuple(_call(c, n) for n, c in enumerate(calls)) if isinstance(calls, list) else ()
        older = mapping(message.get("function_call"))
        if not tool_calls and older:
            tool_calls = (call_of("", older.get("name"), older.get("arguments"), 0),)
        return WireReply(
            text_of(message.get("content")),
            thinking_of(message),
            _text(message.get("refusal")),
            tool_calls,
            str(choice.get("finish_reason") or ""),
            answer.get("usage"),
            answer.get("service_tier"),
        )


class ToolsInText(ChatCompletions):
    """Chat completions for servers and models without tool calls: they are told and asked for in the text."""

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Build the document to post, without tools."""
        return super().body(replace(request, talk=tuple(in_text(request.talk)), tools=()))


def turn(message: Message) -> dict[str, Any]:
    """One turn in the words of this interface."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content}
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in message.calls
    ]
    return {"role": message.role, "content": message.content, "tool_calls": calls}


def thinking_of(message: Mapping[str, Any]) -> str:
    """Read the thoughts of the model, in any of the fields for it."""
    for name in THINKING:
        if (thoughts := _text(message.get(name))).strip():
            return thoughts
    parts = message.get("content")
    if isinstance(parts, list):
        pieces = [_text(mapping(p).get("thinking") or mapping(p).get("reasoning")) for p in parts]
        return "".join(pieces)
    return ""


def _call(call: Any, number: int) -> ToolCall:
    function = mapping(mapping(call).get("function"))
    return call_of(mapping(call).get("id"), function.get("name"), function.get("arguments"), number)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def assembled(lines: str) -> dict[str, Any] | None:
    """One document out of a stream of events, which some servers send unasked; None where its end is missing."""
    import json

    text, thinking, reason, usage, ended = "", "", "", dict[str, Any](), False
    calls: dict[int, dict[str, Any]] = {}
    for line in lines.splitlines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data == "[DONE]":
            ended = True
        if not data.startswith("{"):
            continue
        event = mapping(json.loads(data))
        if event.get("error"):
            return dict(event)
        usage = dict(mapping(event.get("usage"))) or usage
        choices = event.get("choices")
        choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
        text += text_of(delta.get("content") or "")
        thinking += thinking_of(delta)
        reason = str(choice.get("finish_reason") or reason)
        for piece in delta.get("tool_calls") or ():
            _append(calls, mapping(piece))
    if not (ended or reason):
        return None
    message = {"content": text, "reasoning_content": thinking, "tool_calls": [calls[n] for n in sorted(calls)]}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _append(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Add a piece of a streamed call to what came of it before."""
    index = piece.get("index")
    call = calls.setdefault(
        index if isinstance(index, int) else len(calls), {"id": "", "function": {"name": "", "arguments": ""}}
    )
    function = mapping(piece.get("function"))
    call["id"] = call["id"] or piece.get("id") or ""
    call["function"]["name"] += _text(function.get("name"))
    call["function"]["arguments"] += _text(function.get("arguments"))
