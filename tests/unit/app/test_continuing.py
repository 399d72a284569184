"""A run that goes on: how many generations it gets, and what a branch of it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.continuing import branched, extended, last_begun
from records.errors import UsageError
from records.experiment import Experiment, Extension, Run
from records.ledger import Ledger

RUN = Run("run-1", "row_softmax", "mi300x", "lab", "playbook", 7, {"generations": 2})


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A run of two generations that are used up."""
    with Ledger(tmp_path / "ledger.db") as opened:
        opened.add_run(RUN)
        for generation in (0, 1, 2):
            opened.event(RUN.id, "generation", {"generation": generation})
            opened.add_experiment(Experiment(f"g00{generation}-e1", RUN.id, generation, 1, None, None, "t", "d"))
        yield opened


def test_the_last_generation_that_was_begun_is_read_from_the_diary(ledger: Ledger) -> None:
    ledger.event(RUN.id, "stopped", {"generation": 9})
    assert last_begun(ledger, RUN.id) == 2
    ledger.add_run(Run("run-2", "row_softmax", "mi300x", "lab", "playbook", 7))
    assert last_begun(ledger, "run-2") == 0


@pytest.mark.parametrize(
    ("status", "generations", "extensions"),
    [
        ("running", 2, None),
        ("done", 2, None),
        ("running", 1, None),
        ("failed", 9, None),
        ("done", 3, (Extension(2, 3),)),
        ("running", 3, (Extension(2, 3),)),
    ],
)
def test_a_run_goes_on_to_more_generations_than_it_has_begun(
    ledger: Ledger, status: str, generations: int, extensions: tuple[Extension, ...] | None
) -> None:
    ledger.finish(RUN.id, status)  # type: ignore[arg-type]
    run = ledger.run(RUN.id)
    if extensions is None:
        with pytest.raises(UsageError):
            extended(ledger, run, generations)
        assert ledger.run(RUN.id) == run
    else:
        assert extended(ledger, run, generations).extensions == extensions


@pytest.mark.parametrize(("status", "is_noted"), [("done", True), ("paused", False)])
def test_the_total_in_force_is_noted_again_only_where_the_run_was_done(
    tmp_path: Path, status: str, is_noted: bool
) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_run(RUN)
        ledger.event(RUN.id, "generation", {"generation": 1})
        ledger.finish(RUN.id, status)  # type: ignore[arg-type]
        assert extended(ledger, ledger.run(RUN.id), 2).extensions == ((Extension(1, 2),) if is_noted else ())


def test_a_branch_has_what_came_before_and_a_name_of_its_own(ledger: Ledger) -> None:
    ledger.finish(RUN.id, "done", "two are used")
    origin = ledger.run(RUN.id)
    first, second = branched(ledger, origin, 2), branched(ledger, origin, 1)
    assert (first.id, second.id) == ("run-1-b1", "run-1-b2")
    assert (first.status, first.stop_reason, first.config["forked_from"]) == ("running", "", RUN.id)
    assert [e.id for e in ledger.experiments(first.id)] == ["g000-e1", "g001-e1"]
    assert [e.id for e in ledger.experiments(second.id)] == ["g000-e1"]
    assert (last_begun(ledger, first.id), last_begun(ledger, second.id)) == (1, 0)
    assert ledger.run(RUN.id) == origin and len(ledger.experiments(RUN.id)) == 3
