"""Which part of a request a refusal is about, and the simpler forms that each part has."""

from __future__ import annotations

from dataclasses import fields

import pytest

from agents.model.forms import LAST, MOST_STEPS, Forms, Part, named_part, names_tools, weaker_json

ALL = frozenset(LAST)


@pytest.mark.parametrize("part", LAST)
def test_each_part_has_so_many_simpler_forms_and_then_none(part: Part) -> None:
    forms, steps = Forms(), 0
    while (simpler := forms.simpler(part)) is not None:
        assert [f.name for f in fields(Forms) if getattr(forms, f.name) != getattr(simpler, f.name)] == [part]
        forms, steps = simpler, steps + 1
    assert steps == LAST[part] == getattr(forms, part) <= MOST_STEPS


def test_merged_forms_are_the_simpler_ones_of_each_part() -> None:
    assert Forms(wire=1, json_mode=2).merged(Forms(roles=1, json_mode=1)) == Forms(wire=1, roles=1, json_mode=2)


@pytest.mark.parametrize(
    ("text", "param", "part"),
    [
        ("use v1/responses", "", "wire"),
        ("no reasoning_effort here, and no temperature", "", "effort"),
        ("Temperature is fixed", "", "temperature"),
        ("System role not supported", "", "roles"),
        ("response_format is unknown", "", "json_mode"),
        ("tool_choice is unknown", "", "tools"),
        ("no temperature", "reasoning.effort", "effort"),
        ("refused", "temperature", "temperature"),
        ("temperature", "messages", "temperature"),
        ("max_tokens is not supported", "", "token_field"),
        ("use max_completion_tokens instead of max_tokens", "", "token_field"),
        ("unsupported", "max_tokens", "token_field"),
        ("max_tokens is too large", "", None),
        ("max_completion_tokens is unknown", "", None),
        ("no idea", "", None),
    ],
)
def test_a_refusal_names_a_part_by_its_field_or_in_its_words(text: str, param: str, part: Part | None) -> None:
    assert named_part(text, param, ALL, Forms()) == part


def test_only_what_was_sent_and_has_a_simpler_form_can_be_the_part() -> None:
    text = "no temperature, and no tool_choice"
    assert named_part(text, "", ALL - {"temperature"}, Forms()) == "tools"
    assert named_part(text, "temperature", ALL - {"temperature"}, Forms()) == "tools"
    assert named_part(text, "temperature", ALL, Forms(temperature=1)) == "tools"
    assert named_part("max_tokens is unknown", "", ALL - {"token_field"}, Forms()) is None
    assert named_part("max_completion_tokens is unknown", "", ALL, Forms(token_field=1)) is None


@pytest.mark.parametrize(("text", "is_named"), [("Tools are off", True), ("function_call", True), ("no luck", False)])
def test_tools_are_named_in_any_of_their_words(text: str, is_named: bool) -> None:
    assert names_tools(text) is is_named


@pytest.mark.parametrize(("now", "weaker"), [(0, 2), (1, 2), (2, 3), (3, 3)])
def test_a_server_that_ignores_a_schema_is_asked_for_json_in_a_weaker_way(now: int, weaker: int) -> None:
    assert weaker_json(Forms(json_mode=now, effort=1)) == Forms(json_mode=weaker, effort=1)
