"""A request in words to the served graph, its answer, and the schemas that forms are drawn from."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.run_request import checked_limits
from app.served_runs import graph
from app.user_text import KINDS as TEXT_FIELDS
from graph import Limits
from graph.served_fields import BLANK
from records.allowance import NAMES
from tests.support.served import Server


def test_schemas_of_input_output_and_context_describe_each_field_with_its_choices_and_default() -> None:
    schemas = (graph.get_input_jsonschema(), graph.get_context_jsonschema(), graph.get_output_jsonschema())
    asked, preset, answer = (dict(schema["properties"]) for schema in schemas if schema is not None)
    assert {"task", *TEXT_FIELDS, "messages"} == set(asked) - set(preset)
    assert {"target", "on", "author", "limits", "seed", "approve", *NAMES} == set(preset)
    assert set(BLANK) | {"run_id", "messages"} == set(answer)
    assert [name for field in (asked, preset, answer) for name in field if not field[name].get("description")] == []
    assert preset["author"]["enum"] == ["llm", "playbook"] and "mi300x" in preset["target"]["enum"]
    limits = preset["limits"]["properties"]
    assert {name: limit["default"] for name, limit in limits.items()} == asdict(Limits())
    assert checked_limits({name: limit["maximum"] for name, limit in limits.items() if "maximum" in limit})


def person(text: str) -> dict[str, Any]:
    return {"author": "playbook", "on": "lab", "messages": [{"role": "user", "content": text}]}


def test_a_chat_asks_for_what_is_missing_and_answers_with_the_result_once(tmp_path: Path) -> None:
    server = Server(tmp_path)
    asked = server.invoke(person("make it faster, please"))
    assert "say what is to become faster" in asked["messages"][-1].text and not asked["run_id"]
    assert server.ledger().runs() == ()
    reply = server.invoke(person("make this faster: row_softmax. generations=1, picks=2"))
    [run] = server.ledger().runs()
    assert (run.task, run.config["picks"]) == ("row_softmax", 2)
    question, answer = reply["messages"][-2:]
    assert question.type == "human" and answer.type == "ai" and "time_us = 48" in answer.text
    assert server.invoke(None)["messages"] == reply["messages"]
    again = server.invoke(person("and this one: transpose"))
    assert server.ledger().run(again["run_id"]).task == "transpose"
