"""What all formats on the wire share: parts of a request, plain roles, turns in text, and what servers write."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.model.conversation import Message, ToolCall
from agents.model.forms import Forms
from agents.model.wire import ModelRequest, call_of, in_text, mapping, plain_roles, text_of

CALL = ToolCall("c1", "check", '{"a": 1}')
USER, SYSTEM = Message("user", "u"), Message("system", "s")
REQUEST = ModelRequest("m", (USER,), 500, Forms())


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({}, set()),
        ({"talk": (SYSTEM, USER)}, {"roles"}),
        ({"talk": (USER, Message("assistant", "a"))}, set()),
        ({"talk": (USER, Message("assistant", "a"), USER)}, {"roles"}),
        ({"temperature": 0.0}, {"temperature"}),
        ({"temperature": 0.5, "forms": Forms(temperature=1)}, set()),
        ({"effort": "low"}, {"effort"}),
        ({"effort": "low", "forms": Forms(effort=1)}, set()),
        ({"response_format": {}}, {"json_mode"}),
        ({"tools": ({},)}, {"tools"}),
    ],
)
def test_a_request_has_the_parts_that_could_be_simpler(change: dict[str, Any], parts: set[str]) -> None:
    assert replace(REQUEST, **change).parts() == parts | {"wire", "token_field"}


def test_the_field_of_the_limit_is_one_of_chat_completions() -> None:
    assert replace(REQUEST, forms=Forms(wire=1)).parts() == {"wire"}


def test_without_a_system_role_turns_of_one_role_are_joined() -> None:
    asked = Message("assistant", "a", calls=(CALL,))
    results = (Message("tool", "t", call_id="c1"), Message("tool", "t", call_id="c2"))
    talk = (SYSTEM, USER, asked, *results, USER, USER, Message("assistant", ""), Message("assistant", "b"))
    assert plain_roles(talk) == (
        Message("user", "s\n\nu"),
        asked,
        *results,
        Message("user", "u\n\nu"),
        Message("assistant", "b"),
    )
    assert plain_roles((asked, Message("assistant", "b"))) == (asked, Message("assistant", "b"))
    assert plain_roles(()) == ()


def test_calls_and_results_are_written_in_text() -> None:
    turns = in_text((USER, Message("assistant", "", (CALL,)), Message("tool", "three", call_id="c1")))
    assert [turn.role for turn in turns] == ["user", "assistant", "user"] and turns[0] == USER
    assert turns[1].content == '```tool\n{"tool": "check", "arguments": {"a": 1}}\n```' and not turns[1].calls
    assert turns[2].content.endswith("three")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, ""),
        (7, ""),
        ([{"text": "a"}, "b", {"type": "text", "text": "c"}], "abc"),
        ([{"type": "thinking", "text": "a"}, {"type": "reasoning", "text": "b"}, {"type": "refusal", "text": "c"}], ""),
        ({"text": "a"}, "a"),
        ([{"text": 7}, None], ""),
    ],
)
def test_the_text_of_a_content_is_read_in_any_shape(content: Any, text: str) -> None:
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("arguments", "text"), [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a": 1}'), (None, "{}"), ([], "[]"), ("", "")]
)
def test_a_call_is_read_in_any_shape(arguments: Any, text: str) -> None:
    assert call_of("c1", "check", arguments, 3) == ToolCall("c1", "check", text)
    assert call_of(None, None, arguments, 3) == ToolCall("call_3", "", text)


def test_what_is_no_object_is_an_empty_one() -> None:
    assert mapping({"a": 1}) == {"a": 1} and mapping(None) == mapping([1]) == mapping("a") == {}
