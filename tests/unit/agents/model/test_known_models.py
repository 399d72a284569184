"""What is known of the models of an endpoint, and for how long."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from agents.model.endpoint import Endpoint
from agents.model.endpoint_memory import EndpointMemory
from agents.model.forms import Forms
from agents.model.known_models import KnownModels
from agents.model.prompt_fit import ModelSizes

END = Endpoint("http://127.0.0.1:9/v1", "m")


@pytest.fixture
def memory(tmp_path: Path) -> EndpointMemory:
    return EndpointMemory(tmp_path / "endpoints.json")


def test_of_a_model_nothing_is_known_at_first(memory: EndpointMemory) -> None:
    models = KnownModels(END, memory)
    facts = models.of("m")
    assert (facts.forms, facts.sizes, facts.has_answered) == (Forms(), ModelSizes(), False)
    assert not models.has_answered() and not models.is_down("m")


def test_only_openai_is_asked_for_completion_tokens_from_the_start(memory: EndpointMemory) -> None:
    assert KnownModels(Endpoint("https://api.openai.com/v1", "m", SecretStr("sk-none")), memory).fresh() == Forms(
        token_field=1
    )
    assert KnownModels(END, memory).fresh() == Forms()


def test_an_answer_keeps_the_simpler_forms_and_the_smaller_sizes(memory: EndpointMemory) -> None:
    models = KnownModels(END, memory)
    models.answered("m", Forms(roles=1), ModelSizes(8000, 900))
    models.answered("m", Forms(effort=1), ModelSizes(9000, 800))
    facts = models.of("m")
    assert facts.forms == Forms(roles=1, effort=1)
    assert (facts.sizes.window, facts.sizes.answer) == (8000, 800)
    assert facts.has_answered and models.has_answered() and not models.of("other").has_answered


def test_forms_are_remembered_at_the_first_answer_and_where_they_change(memory: EndpointMemory) -> None:
    models = KnownModels(END, memory)
    assert memory.forms(END.address, "m") is None
    models.answered("m", Forms(), ModelSizes())
    assert memory.forms(END.address, "m") == Forms()
    memory.remember(END.address, "m", Forms(effort=1))
    models.answered("m", Forms(), ModelSizes())
    assert memory.forms(END.address, "m") == Forms(effort=1), "nothing new was learnt"
    models.answered("m", Forms(roles=1), ModelSizes())
    assert memory.forms(END.address, "m") == Forms(roles=1)


def test_what_an_earlier_session_learnt_is_taken_up(memory: EndpointMemory) -> None:
    memory.remember(END.address, "m", Forms(roles=1))
    models = KnownModels(END, memory)
    assert models.of("m").forms == Forms(roles=1) and models.of("other").forms == Forms()
    assert not models.has_answered()


def test_forms_are_simplified_step_by_step_and_pinned_at_once(memory: EndpointMemory) -> None:
    models = KnownModels(END, memory)
    models.simplify("m", Forms(roles=1))
    models.simplify("m", Forms(tools=1))
    assert models.of("m").forms == Forms(roles=1, tools=1)
    models.pin("m", Forms(effort=1))
    assert models.of("m").forms == Forms(effort=1)


def test_facts_are_a_copy(memory: EndpointMemory) -> None:
    models = KnownModels(END, memory)
    models.of("m").has_answered = True
    assert not models.has_answered()


def test_models_that_could_not_be_had_are_asked_last(memory: EndpointMemory) -> None:
    models = KnownModels(END, memory)
    models.mark_down("a")
    assert models.is_down("a") and not models.is_down("b")
    assert models.in_order(["a", "b", "c", "b"]) == ["b", "c", "a"]
    models.answered("a", Forms(), ModelSizes())
    assert models.in_order(["a", "b"]) == ["a", "b"], "an answer ends it"
