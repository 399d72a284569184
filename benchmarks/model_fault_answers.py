"""Single strange answers and answers that were cut off, for the table of a model's faults."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.faulty_endpoint import USAGE, Document, Faulty, HttpReply, RoleRequest, chat, kernel, reply


def _changed(**changes: Any) -> Faulty:
    """Return the right answer with other fields."""
    return lambda request: reply({**request.right, **changes}) if request.number == 1 else None


def _message(change: Any) -> Faulty:
    """Return the right answer with a changed message and choice, once."""

    def act(request: RoleRequest) -> HttpReply | None:
        document = json.loads(json.dumps(request.right))
        choice = document["choices"][0]
        change(choice, choice["message"])
        return reply(document) if request.number == 1 else None

    return act


def _thinks(field: str, keeps: bool) -> Any:
    def change(choice: Document, message: Document) -> None:
        message[field] = "let me think" if keeps else message["content"]
        message["content"] = message["content"] if keeps else None

    return change


def _tagged(before: str, behind: str) -> Any:
    def change(choice: Document, message: Document) -> None:
        message["content"] = f"{before}{message['content'] or ''}{behind}"

    return change


def _set(**fields: Any) -> Any:
    def change(choice: Document, message: Document) -> None:
        message.update(fields)

    return change


def _parts(choice: Document, message: Document) -> None:
    message["content"] = [{"type": "text", "text": message["content"] or ""}]


def _reason(reason: Any) -> Any:
    def change(choice: Document, message: Document) -> None:
        choice["finish_reason"] = reason

    return change


def strange() -> Iterator[tuple[str, Faulty]]:
    """Yield one answer that is unlike others."""
    counts: Mapping[str, Any] = {
        "none": None,
        "below nothing": {"prompt_tokens": -5, "completion_tokens": -7},
        "texts": {"prompt_tokens": "many", "completion_tokens": "more"},
        "lists": {"prompt_tokens": [1], "completion_tokens": {}},
        "truth values": {"prompt_tokens": True, "completion_tokens": False},
        "beyond all measure": {"prompt_tokens": 1e300, "completion_tokens": 10**400},
        "a text instead": "free",
        "a cost below nothing": {**USAGE, "cost": -1e9},
        "a cost of text": {**USAGE, "cost": "0.1"},
    }
    for name, usage in counts.items():
        yield f"counts: {name}", _changed(usage=usage)
    changes: Mapping[str, Any] = {
        "reasoning_content alone": _thinks("reasoning_content", False),
        "reasoning alone": _thinks("reasoning", False),
        "reasoning_content beside it": _thinks("reasoning_content", True),
        "within <think>": _tagged("<think>", "</think>"),
        "behind <think>": _tagged("<think>perhaps {}</think>", ""),
        "behind </think>": _tagged("perhaps</think>", ""),
        "in parts": _parts,
        "no reason of its end": _reason(None),
        "an unknown reason": _reason("FINISH"),
        "a reason that is no text": _reason({"a": 1}),
        "empty": _set(content=""),
        "refused": _set(content=None, refusal="I cannot help with that.", tool_calls=None),
        "lone surrogates": _set(content="\ud800 \udfff", tool_calls=None),
        "NUL": _set(content="a\0b", tool_calls=None),
        "bidirectional overrides": _set(content="\u202e\u2066 ok", tool_calls=None),
        "a call of a strange shape": _set(tool_calls=[{"function": {"name": None, "arguments": [1]}}, 7, None]),
        "a surrogate in arguments": _set(
            tool_calls=[{"id": "c", "function": {"name": "check", "arguments": '{"source": "// \\ud800"}'}}]
        ),
    }
    for name, change in changes.items():
        yield f"answer: {name}", _message(change)


def _cut(reason: str, calls: int = 1) -> Faulty:
    """Return an answer that ends early, with a kernel in it that looks whole and would be the fastest."""

    def act(request: RoleRequest) -> HttpReply | None:
        if request.number > calls:
            return None
        source = kernel(request.role, is_cut=True)
        if request.body.get("tools"):
            return reply(chat("", ("check", {"source": source}), reason))
        return reply(chat(f'```hip\n{source}```\n\n```tool\n{{"tool": "check"}}\n```', None, reason))

    return act


def cuts() -> Iterator[tuple[str, Faulty]]:
    """Yield answers that ended too early."""
    reasons = (
        "length",
        "max_tokens",
        "max_output_tokens",
        "MAX_TOKENS",
        "model_length",
        "content_filter",
        "error",
        "abort",
    )
    for reason in reasons:
        yield f"cut: {reason}", _cut(reason)
    yield "cut: length, each time", _cut("length", 10**6)
