"""Searches by name: their limits are limits of a run, and they do what their methods do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.author import Idea, Specimen, Step
from app.run_request import checked_limits
from graph.schemes import SCHEMES, limits_of_scheme
from records.errors import UsageError
from tests.support.scripted_run import Bench

TIMES = (60, 80, 70, 90, 75, 65)


def faster_and_slower(step: Step, base: Specimen) -> str:
    return f"// {step.experiment_id} of {base.attempt.id}\n// time_us = {TIMES[step.generation - 1]}\n"


def one(generation: int) -> Sequence[Idea]:
    return [Idea(f"idea {generation}", "", (), 1, 2, 3)]


def bases(folder: Path, name: str | None) -> list[tuple[str, str]]:
    """Base and reference of each generation."""
    limits = {k: v for k, v in limits_of_scheme(name).items()}
    bench = Bench(
        folder, faster_and_slower, planner=one, generations=6, stagnation=9, **{"answers": 0, **limits, "picks": 1}
    )
    bench.drive()
    told = [e.payload for e in bench.context.ledger.events(bench.context.run.id) if e.kind == "selected"]
    return [(str(t["base"]), str(t["reference"])) for t in told]


@pytest.mark.parametrize("name", SCHEMES)
def test_each_is_made_of_limits_of_a_run(name: str) -> None:
    assert checked_limits(limits_of_scheme(name)) == dict(SCHEMES[name])


def test_a_name_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="there are paper, fsr, seki"):
        limits_of_scheme("evolution")
    assert limits_of_scheme(None) == {}


def test_a_greedy_search_begins_each_round_with_the_fastest_and_no_reference(tmp_path: Path) -> None:
    made = bases(tmp_path, "fsr")
    assert made == [("g000-e0-a0", "None"), *[("g001-e1-a0", "None")] * 5]


def test_inspiration_draws_from_the_fastest_and_by_the_seed(tmp_path: Path) -> None:
    made = bases(tmp_path / "one", "seki")
    assert made[:2] == [("g000-e0-a0", "None"), ("g001-e1-a0", "None")]
    later = {base for base, _ in made[2:]}
    assert len(later) > 1, "it does not collapse onto the best"
    assert all(base != reference for base, reference in made[2:])
    assert bases(tmp_path / "again", "seki") == made
