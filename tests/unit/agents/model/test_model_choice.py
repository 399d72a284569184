"""Several models for the coder: each is asked first, then the one that gains most for its money."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.author import Step
from agents.model.endpoint import Endpoint
from agents.model.model_choice import ModelRecord, draws, model_of, records_of
from records.experiment import Attempt, Credit, Experiment, ModelCall, Run, Usage
from records.ledger import Ledger

MODELS = ("large", "small")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.db") as made:
        made.add_run(Run("r", "t", "mi300x", "lab", "llm", 1))
        yield made


def told(
    ledger: Ledger, generation: int, slot: int, model: str, gain: float | None, usd: float, tokens: int = 10
) -> None:
    """One experiment with its call and, where it gained, its kernel."""
    name = f"g{generation:03d}-e{slot}"
    experiment = Experiment(name, "r", generation, slot, "p", None, name, "", picked_as="most_certain")
    ledger.add_experiment(experiment)
    call = ModelCall(name, "r", "coder", model, "prompt", "reserved", usd, generation=generation, experiment_id=name)
    ledger.reserve(call)
    ledger.settle(name, "reply", Usage(tokens, 0, usd))
    if gain is not None:
        attempt = Attempt(
            id=f"{name}-a0",
            run_id="r",
            experiment_id=name,
            generation=generation,
            number=0,
            candidate_id=name,
            source=name,
            status="accepted",
            evaluation_key=name,
            credit=Credit(idea_pct=gain, shown_pct=gain),
        )
        ledger.add_attempt(attempt)


def planned(ledger: Ledger, generation: int, count: int) -> list[str]:
    """The models that the experiments of a generation get."""
    for slot in range(1, count + 1):
        name = f"g{generation:03d}-e{slot}"
        ledger.add_experiment(Experiment(name, "r", generation, slot, "p", None, name, "", picked_as="most_certain"))
    steps = [Step("r", generation, f"g{generation:03d}-e{slot}") for slot in range(1, count + 1)]
    return [model_of(ledger, "coder", step, MODELS) for step in steps]


def test_each_model_is_asked_before_one_is_asked_again(ledger: Ledger) -> None:
    assert planned(ledger, 1, 4) == ["large", "small", "large", "small"]


def test_the_one_that_gains_most_for_its_money_is_asked_more(ledger: Ledger) -> None:
    for generation in (1, 2, 3):
        told(ledger, generation, 1, "large", 40.0, 1.0)
        told(ledger, generation, 2, "small", 30.0, 0.1)
    assert planned(ledger, 4, 3).count("small") >= 2
    assert planned(ledger, 4, 3) == planned(ledger, 4, 3), "a resumed run asks the same"


def test_a_cheap_model_that_gains_nothing_loses_to_a_dear_one_that_does(ledger: Ledger) -> None:
    for generation in range(1, 9):
        told(ledger, generation, 1, "large", 90.0, 1.0)
        told(ledger, generation, 2, "small", None, 0.5)
    assert planned(ledger, 9, 2) == ["large", "large"]


def test_only_earlier_generations_and_shown_gains_count(ledger: Ledger) -> None:
    told(ledger, 1, 1, "large", 100.0, 0.0, tokens=300)
    told(ledger, 2, 1, "small", 100.0, 0.0)
    step = Step("r", 2, "g002-e1")
    assert records_of(ledger, "coder", step, MODELS) == {"large": ModelRecord(1, 1.0, 300.0)}
    assert records_of(ledger, "critic", step, MODELS) == {}
    refuted = replace(
        ledger.attempts("r")[0], id="g003-e1-a0", experiment_id="g003-e1", generation=3, standing="refuted"
    )
    ledger.add_attempt(refuted)
    assert records_of(ledger, "coder", replace(step, generation=9), MODELS)["large"].reward == 1.0


def test_one_model_and_what_has_no_experiment_need_no_choice(ledger: Ledger) -> None:
    assert model_of(ledger, "coder", Step("r", 1, "g001-e2"), ("only",)) == "only"
    assert model_of(ledger, "coder", Step("r", 1), MODELS) == "large"
    assert draws(MODELS, {}, 0) == []


def test_only_the_coder_has_several() -> None:
    end = Endpoint("http://localhost/v1", "m", models={"coder": "large, small", "planner": "a,b"})
    assert end.models_for("coder") == MODELS
    assert (end.model_for("coder"), end.model_for("planner"), end.models_for("critic")) == ("large", "a,b", ("m",))
