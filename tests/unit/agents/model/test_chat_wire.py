"""Chat completions: what is posted, what is read of an answer, and answers that come as a stream."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agents.model.chat_wire import ChatCompletions, ToolsInText, assembled
from agents.model.conversation import Message, ToolCall
from agents.model.forms import Forms
from agents.model.wire import ModelRequest, NotAnAnswer

CALL = ToolCall("c1", "check", '{"a": 1}')
FUNCTION = {"name": "check", "arguments": '{"a": 1}'}
TALK = (
    Message("system", "You count."),
    Message("user", "How many?"),
    Message("assistant", "so", calls=(CALL,)),
    Message("tool", "three", call_id="c1"),
)
TOOL = {"type": "function", "function": {"name": "check"}}
REQUEST = ModelRequest("m", TALK, 500, Forms())


def test_turns_calls_and_results_are_messages() -> None:
    assert ChatCompletions().body(REQUEST) == {
        "model": "m",
        "max_tokens": 500,
        "messages": [
            {"role": "system", "content": "You count."},
            {"role": "user", "content": "How many?"},
            {
                "role": "assistant",
                "content": "so",
                "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "three"},
        ],
    }


@pytest.mark.parametrize(
    ("options", "forms", "expected"),
    [
        ({"temperature": 0.0}, Forms(), {"temperature": 0.0}),
        ({"temperature": 0.5}, Forms(temperature=1), {}),
        ({"effort": "low"}, Forms(), {"reasoning_effort": "low"}),
        ({"effort": "low"}, Forms(effort=1), {}),
        ({"response_format": {"type": "json_object"}}, Forms(), {"response_format": {"type": "json_object"}}),
        ({"tools": (TOOL,)}, Forms(), {"tools": [TOOL], "tool_choice": "auto"}),
        ({"tools": (TOOL,)}, Forms(tools=1), {"tools": [TOOL]}),
    ],
)
def test_a_part_is_sent_in_its_form_or_not_at_all(
    options: dict[str, Any], forms: Forms, expected: dict[str, Any]
) -> None:
    plain = ChatCompletions().body(REQUEST)
    assert ChatCompletions().body(replace(REQUEST, forms=forms, **options)) == plain | expected


def test_simpler_forms_of_roles_and_of_the_limit() -> None:
    body = ChatCompletions().body(replace(REQUEST, talk=TALK[:2], forms=Forms(roles=1, token_field=1)))
    assert body["messages"] == [{"role": "user", "content": "You count.\n\nHow many?"}]
    assert body["max_completion_tokens"] == 500 and "max_tokens" not in body


def test_tools_in_text_are_no_field_of_the_request() -> None:
    body = ToolsInText().body(replace(REQUEST, tools=(TOOL,)))
    assert not {"tools", "tool_choice"} & set(body)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert not any("tool_calls" in message for message in body["messages"])


def answer(message: Any, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, **choice}, {"message": {"content": "second"}}], "usage": {"a": 1}}


def test_the_first_choice_is_read() -> None:
    message = {"content": "a", "reasoning": "hm", "refusal": "no", "tool_calls": [{"id": "c1", "function": FUNCTION}]}
    reply = ChatCompletions().read({**answer(message, finish_reason="stop"), "service_tier": "flex"})
    assert (reply.text, reply.thinking, reply.refusal, reply.calls) == ("a", "hm", "no", (CALL,))
    assert (reply.finish_reason, reply.usage, reply.tier) == ("stop", {"a": 1}, "flex")


def test_older_forms_of_answers_and_calls_are_read() -> None:
    assert ChatCompletions().read({"choices": [{"text": "a"}]}).text == "a"
    older = {"content": None, "function_call": FUNCTION}
    (call,) = ChatCompletions().read(answer(older)).calls
    assert call == ToolCall("call_0", "check", '{"a": 1}')
    both = {**older, "tool_calls": [{"id": "c1", "function": {"name": "submit", "arguments": "{}"}}]}
    assert [c.name for c in ChatCompletions().read(answer(both)).calls] == ["submit"]
    assert ChatCompletions().read(answer({"content": "a", "tool_calls": None})).calls == ()


@pytest.mark.parametrize("document", [None, [], {}, {"choices": []}, {"choices": {}}, {"choices": [{}]}, answer({})])
def test_a_document_without_a_message_is_no_answer(document: Any) -> None:
    with pytest.raises(NotAnAnswer):
        ChatCompletions().read(document)


@pytest.mark.parametrize(
    ("message", "thinking"),
    [
        ({"reasoning_content": "a", "reasoning": "b"}, "a"),
        ({"reasoning_content": " ", "thoughts": "b"}, "b"),
        ({"reasoning": {"a": 1}}, ""),
        ({"content": [{"type": "thinking", "thinking": "a"}, {"reasoning": "b"}, {"text": "c"}]}, "ab"),
        ({"content": "a"}, ""),
    ],
)
def test_thoughts_are_read_from_any_field_for_them(message: dict[str, Any], thinking: str) -> None:
    assert ChatCompletions().read(answer({"role": "assistant", **message})).thinking == thinking


def stream(*events: Any) -> str:
    lines = (event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events)
    return "\n\n".join(lines)


def piece(choice: str = "delta", reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{choice: delta, "finish_reason": reason}]}


def call(index: int | None, **function: str) -> dict[str, Any]:
    return {"index": index, "id": "c1" if "name" in function else None, "function": function}


def test_the_pieces_of_a_stream_are_one_answer() -> None:
    document = assembled(
        stream(
            ": comment",
            piece(content="a", reasoning="h"),
            piece(content="b", reasoning="m", tool_calls=[call(0, name="check", arguments='{"a"')]),
            piece(tool_calls=[call(0, arguments=": 1}")], reason="tool_calls"),
            {"choices": [], "usage": {"a": 1}},
            {"choices": [], "usage": None},
        )
    )
    reply = ChatCompletions().read(document)
    assert (reply.text, reply.thinking, reply.calls) == ("ab", "hm", (CALL,))
    assert (reply.finish_reason, reply.usage) == ("tool_calls", {"a": 1})


def test_calls_of_a_stream_are_in_the_order_of_their_numbers_or_of_their_arrival() -> None:
    names = ({"name": "second"}, {"name": "first"})
    numbered = assembled(stream(piece(tool_calls=[call(1, **names[0]), call(0, **names[1])]), "data: [DONE]"))
    arrived = assembled(stream(piece(tool_calls=[call(None, **names[0]), call(None, **names[1])]), "data: [DONE]"))
    assert [c.name for c in ChatCompletions().read(numbered).calls] == ["first", "second"]
    assert [c.name for c in ChatCompletions().read(arrived).calls] == ["second", "first"]


@pytest.mark.parametrize(
    ("events", "is_whole"),
    [
        ((piece(content="a"),), False),
        ((piece(content="a"), "data: [DONE]"), True),
        ((piece(content="a", reason="stop"),), True),
        ((piece("message", "stop", content="a"),), True),
        ((), False),
    ],
)
def test_a_stream_without_its_end_is_no_answer(events: tuple[Any, ...], is_whole: bool) -> None:
    document = assembled(stream(*events))
    assert (document is not None) is is_whole
    assert document is None or ChatCompletions().read(document).text == "a"


def test_an_error_in_a_stream_is_told_as_it_came() -> None:
    fault = {"error": {"message": "too long"}}
    assert assembled(stream(piece(content="a"), fault, piece(content="b", reason="stop"))) == fault
