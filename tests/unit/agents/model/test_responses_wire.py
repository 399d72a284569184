"""The Responses interface: what is posted, and what is read of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.model.conversation import Message, ToolCall
from agents.model.forms import Forms
from agents.model.responses_wire import Responses
from agents.model.wire import ModelRequest, NotAnAnswer

CALL = ToolCall("c1", "check", '{"a": 1}')
TALK = (
    Message("system", "You count."),
    Message("user", "How many?"),
    Message("assistant", "", calls=(CALL,)),
    Message("tool", "three", call_id="c1"),
    Message("assistant", "so", calls=(CALL,)),
    Message("assistant", ""),
)
REQUEST = ModelRequest("m", TALK, 500, Forms())
TOOL = {"type": "function", "function": {"name": "check", "parameters": {}}}


def test_turns_calls_and_results_are_items_of_the_input() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "check", "arguments": '{"a": 1}'}
    assert Responses().body(REQUEST) == {
        "model": "m",
        "max_output_tokens": 500,
        "store": False,
        "input": [
            {"role": "system", "content": "You count."},
            {"role": "user", "content": "How many?"},
            call,
            {"type": "function_call_output", "call_id": "c1", "output": "three"},
            {"role": "assistant", "content": "so"},
            call,
            {"role": "assistant", "content": ""},
        ],
    }


@pytest.mark.parametrize(
    ("options", "forms", "expected"),
    [
        ({"temperature": 0.0}, Forms(), {"temperature": 0.0}),
        ({"temperature": 0.5}, Forms(temperature=1), {}),
        ({"effort": "low"}, Forms(), {"reasoning": {"effort": "low"}}),
        ({"effort": "low"}, Forms(effort=1), {}),
        ({"effort": ""}, Forms(), {}),
        ({"response_format": {"type": "json_object"}}, Forms(), {"text": {"format": {"type": "json_object"}}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True}}},
            Forms(),
            {"text": {"format": {"type": "json_schema", "name": "n", "strict": True}}},
        ),
        (
            {"tools": (TOOL,)},
            Forms(),
            {
                "tools": [{"type": "function", "strict": False, "name": "check", "parameters": {}}],
                "tool_choice": "auto",
            },
        ),
        (
            {"tools": (TOOL,)},
            Forms(tools=1),
            {"tools": [{"type": "function", "strict": False, "name": "check", "parameters": {}}]},
        ),
    ],
)
def test_a_part_is_sent_in_its_form_or_not_at_all(
    options: dict[str, Any], forms: Forms, expected: dict[str, Any]
) -> None:
    plain = Responses().body(REQUEST)
    assert Responses().body(replace(REQUEST, forms=forms, **options)) == plain | expected


def test_without_a_system_role_its_text_is_the_users() -> None:
    body = Responses().body(replace(REQUEST, talk=TALK[:2], forms=Forms(roles=1)))
    assert body["input"] == [{"role": "user", "content": "You count.\n\nHow many?"}]


def test_all_items_of_an_answer_are_read() -> None:
    reply = Responses().read(
        {
            "status": "completed",
            "usage": {"input_tokens": 3},
            "service_tier": "flex",
            "output": [
                {"type": "reasoning", "summary": [{"text": "hm"}], "content": [{"text": "!"}]},
                {"type": "message", "content": [{"text": "a"}, {"type": "refusal", "refusal": "no"}]},
                {"type": "message", "content": [{"text": "b"}]},
                {"type": "function_call", "call_id": "c1", "name": "check", "arguments": '{"a": 1}'},
                {"type": "function_call", "id": "i2", "name": "submit", "arguments": "{}"},
                {"type": "unknown", "content": [{"text": "x"}]},
            ],
        }
    )
    assert (reply.text, reply.thinking, reply.refusal) == ("ab", "hm!", "no")
    assert reply.calls == (CALL, ToolCall("i2", "submit", "{}"))
    assert (reply.finish_reason, reply.usage, reply.tier) == ("stop", {"input_tokens": 3}, "flex")


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ({}, "stop"),
        ({"status": "completed", "incomplete_details": {"reason": "x"}}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        ({"status": "failed"}, "incomplete: failed"),
    ],
)
def test_only_a_completed_answer_is_whole(head: dict[str, Any], reason: str) -> None:
    assert Responses().read({**head, "output": [{"type": "message", "content": "a"}]}).finish_reason == reason


@pytest.mark.parametrize(
    "document", [None, [], "text", {}, {"output": []}, {"output": {}}, {"output": [], "status": "completed"}]
)
def test_a_document_without_output_is_no_answer(document: Any) -> None:
    with pytest.raises(NotAnAnswer):
        Responses().read(document)
    assert Responses().read({"output": [], "status": "incomplete"}).text == ""
