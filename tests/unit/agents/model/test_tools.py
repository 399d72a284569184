"""Turns with tools through the gateway: what is sent, what comes back whatever the server did to it, what is paid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agents.author import Step
from agents.model.conversation import Message, RawReply, ToolCall
from agents.model.endpoint import Endpoint, Price
from agents.model.probe import probe
from agents.model.tools import PONG, Tool, ToolsRefused
from records.errors import BudgetExhausted, ModelRefused
from tests.support.endpoint import Answer, Fault, Page, ScriptedEndpoint
from tests.support.gateway import ASK, STEP, Waits, gateway


class Look(BaseModel):
    kernel: str = ""
    lines: list[int] = []


LOOK = Tool("look", "Look at a kernel.", Look)
CALLS = Answer(None, "tool_calls", tool_calls=(("look", {"kernel": "a0"}),))


def turn(folder: Path, server: ScriptedEndpoint, talk: tuple[Message, ...] = ASK, **options: Any) -> RawReply:
    gate = gateway(folder, server.url, **options)
    try:
        return gate.turn("coder", STEP, talk, (LOOK,))
    finally:
        gate.ledger.close()


def test_a_tool_is_offered_by_name_and_form_and_its_call_comes_back(tmp_path: Path) -> None:
    with ScriptedEndpoint([CALLS]) as server:
        made = turn(tmp_path, server)
    assert made.calls == (ToolCall("call_0", "look", '{"kernel": "a0"}'),)
    [offered] = server.requests[0].body["tools"]
    assert offered["function"]["name"] == "look"
    assert offered["function"]["parameters"] == {
        "type": "object",
        "properties": {"kernel": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
    }
    assert not server.requests[0].body.get("stream")


@pytest.mark.parametrize("said", ['{"kernel": ', "[1, 2]", '"a0"', "7", "", "null"])
def test_arguments_that_are_no_object_are_kept_as_they_came(tmp_path: Path, said: str) -> None:
    with ScriptedEndpoint([Answer("", "tool_calls", tool_calls=(("look", said),))]) as server:
        made = turn(tmp_path, server)
    assert [(c.name, c.arguments) for c in made.calls] == [("look", said)]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([{"function": {}}], [("call_0", "", "{}")]),
        ([{"type": "function"}, "x"], [("call_0", "", "{}"), ("call_1", "", "{}")]),
        ([{"id": 3, "function": {"name": "look", "arguments": {"kernel": "a0"}}}], [("3", "look", '{"kernel": "a0"}')]),
        ("look", []),
    ],
)
def test_calls_of_a_strange_shape_lose_no_paid_answer(tmp_path: Path, listed: Any, found: list[Any]) -> None:
    message = {"role": "assistant", "content": "so", "tool_calls": listed}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
    page = Page(json.dumps(body | {"choices": [{"index": 0, "message": message}]}), 200, "application/json")
    with ScriptedEndpoint([page]) as server:
        made = turn(tmp_path, server)
    assert (made.text, [(c.id, c.name, c.arguments) for c in made.calls]) == ("so", found)


def test_a_whole_exchange_goes_back_in_the_interfaces_own_words(tmp_path: Path) -> None:
    call = ToolCall("c7", "look", '{"kernel": "a0"}')
    talk = (*ASK, Message("assistant", "", (call,)), Message("tool", "64 VGPR", call_id="c7"))
    with ScriptedEndpoint(["done"]) as server:
        turn(tmp_path, server, talk)
    asked, answered = server.requests[0].body["messages"][-2:]
    assert asked["tool_calls"][0] == {
        "id": "c7",
        "type": "function",
        "function": {"name": "look", "arguments": '{"kernel": "a0"}'},
    }
    assert answered == {"role": "tool", "tool_call_id": "c7", "content": "64 VGPR"}


def test_a_turn_is_stored_with_its_calls_and_never_paid_twice(tmp_path: Path) -> None:
    with ScriptedEndpoint([CALLS]) as server:
        first = turn(tmp_path, server)
        again = turn(tmp_path, server)
    assert (again, len(server.requests)) == (first, 1)


def test_other_tools_or_another_conversation_are_another_request(tmp_path: Path) -> None:
    with ScriptedEndpoint([CALLS, "a", "b"]) as server:
        gate = gateway(tmp_path, server.url)
        gate.turn("coder", STEP, ASK, (LOOK,))
        gate.turn("coder", STEP, ASK, ())
        gate.turn("coder", STEP, (*ASK, Message("tool", "64 VGPR", call_id="c7")), (LOOK,))
        gate.ledger.close()
    assert len(server.requests) == 3


def test_a_turn_that_was_cut_off_is_asked_once_more_with_twice_the_tokens(tmp_path: Path) -> None:
    cut = Answer("half", "length", tool_calls=(("look", '{"kernel": "a'),))
    with ScriptedEndpoint([cut, CALLS]) as server:
        made = turn(tmp_path, server, max_tokens=1000)
    assert made.calls[0].arguments == '{"kernel": "a0"}'
    assert [r.body["max_tokens"] for r in server.requests] == [1000, 2000]


def test_tools_count_in_what_is_reserved(tmp_path: Path) -> None:
    wide = Tool("wide", "x" * 20_000, Look)
    with ScriptedEndpoint([CALLS] * 2) as server:
        gate = gateway(tmp_path, server.url, 0.01, price=Price(1.0, 0.0))
        gate.turn("coder", STEP, ASK, (LOOK,))
        with pytest.raises(BudgetExhausted):
            gate.turn("coder", STEP, ASK, (wide,))
        gate.ledger.close()
    assert len(server.requests) == 1


def test_a_server_that_refuses_tools_says_so_and_costs_nothing(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(400, "tools are not supported by this model")]) as server:
        gate = gateway(tmp_path, server.url, 1.0)
        with pytest.raises(ToolsRefused):
            gate.turn("coder", STEP, ASK, (LOOK,))
        assert (gate.ledger.spend("run-1").calls, gate.ledger.spend("run-1").reserved_usd) == (0, 0.0)
        gate.ledger.close()
    with ScriptedEndpoint([Fault(400, "the prompt is too long")]) as server, pytest.raises(ModelRefused) as caught:
        turn(tmp_path / "other", server)
    assert not isinstance(caught.value, ToolsRefused)


def test_the_key_is_hidden_in_arguments_too(tmp_path: Path) -> None:
    said = '{"kernel": "sk-canary-5f2c91"}'
    with ScriptedEndpoint([Answer("", tool_calls=(("look", said),))]) as server:
        made = turn(tmp_path, server)
    assert "sk-canary-5f2c91" not in made.to_text()


PONGS = Answer("", "tool_calls", tool_calls=((PONG.name, {"answer": "pong"}),))


@pytest.mark.parametrize(
    ("script", "told"), [([PONGS], True), (["pong"], False), ([Fault(400, "extra fields not permitted")], False)]
)
def test_the_model_is_asked_once_a_run_whether_it_calls_tools(tmp_path: Path, script: list[Any], told: bool) -> None:
    with ScriptedEndpoint(script) as server:
        for generation in (1, 2):
            gate = gateway(tmp_path, server.url)
            assert gate.calls_tools("coder", Step("run-1", generation, f"g00{generation}-e1")) is told
            gate.ledger.close()
            if not isinstance(script[0], Fault):
                assert len(server.requests) == 1


def test_a_setting_asks_nobody(tmp_path: Path) -> None:
    with ScriptedEndpoint([]) as server:
        assert gateway(tmp_path / "a", server.url, tools="calls").calls_tools("coder", STEP)
        assert not gateway(tmp_path / "b", server.url, tools="text").calls_tools("coder", STEP)
    assert server.requests == []


def test_the_probe_tells_whether_tools_are_called() -> None:
    def able(body: dict[str, Any]) -> Answer:
        return PONGS if body.get("tools") else Answer('{"answer": "pong"}')

    with ScriptedEndpoint(able) as server:
        assert probe(Endpoint(server.url, "scripted"), Waits()).calls_tools
    with ScriptedEndpoint(lambda body: Fault(422, "no") if body.get("tools") else '{"answer": "pong"}') as server:
        assert not probe(Endpoint(server.url, "scripted"), Waits()).calls_tools
