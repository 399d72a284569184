"""A branch of a run: records of which generations and experiments it takes over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from records.experiment import Attempt, Experiment, Proposed, Run
from records.ledger import Ledger
from tests.support.ledgers import Opening

RUN = Run("one", "row_softmax", "mi300x", "lab", "playbook", 7)
BRANCH = replace(RUN, id="one-b1")


@pytest.fixture
def ledger(opening: Opening) -> Iterator[Ledger]:
    """A run of three generations with two experiments in each."""
    with opening() as opened:
        opened.add_run(RUN)
        for generation in range(3):
            opened.event(RUN.id, "generation", {"generation": generation})
            opened.add_proposals(RUN.id, generation, [Proposed(RUN.id, generation, "g000-e1-a0", "t", "d")])
            for slot in (1, 2):
                name = f"g00{generation}-e{slot}"
                opened.add_experiment(Experiment(name, RUN.id, generation, slot, None, None, "t", "d"))
                opened.add_attempt(Attempt(f"{name}-a0", RUN.id, name, generation, 0, "c", "s", "accepted", "k"))
        yield opened


@pytest.mark.parametrize(
    ("upto", "experiments", "names"),
    [
        (0, frozenset[str](), ["g000-e1", "g000-e2"]),
        (1, frozenset[str](), ["g000-e1", "g000-e2", "g001-e1", "g001-e2"]),
        (0, frozenset({"g001-e2"}), ["g000-e1", "g000-e2", "g001-e2"]),
        (-1, frozenset[str](), []),
    ],
)
def test_a_branch_has_the_records_up_to_a_generation_and_some_of_the_next(
    ledger: Ledger, upto: int, experiments: frozenset[str], names: list[str]
) -> None:
    for _ in range(2):
        ledger.branch(BRANCH, RUN.id, upto, experiments)
    assert [e.id for e in ledger.experiments(BRANCH.id)] == names
    assert [a.experiment_id for a in ledger.attempts(BRANCH.id)] == names
    assert {row.run_id for row in (*ledger.experiments(BRANCH.id), *ledger.attempts(BRANCH.id))} <= {BRANCH.id}
    assert [e.payload["generation"] for e in ledger.events(BRANCH.id)] == list(range(upto + 1))
    proposed = [p for generation in range(3) for p in ledger.proposals(BRANCH.id, generation)]
    assert [(p.run_id, p.generation) for p in proposed] == [(BRANCH.id, g) for g in range(upto + 1)]
    assert len(ledger.attempts(RUN.id)) == 6


def test_records_of_one_generation_can_be_listed_alone(ledger: Ledger) -> None:
    assert [e.id for e in ledger.experiments(RUN.id, 0)] == ["g000-e1", "g000-e2"]
    assert [a.id for a in ledger.attempts(RUN.id, 2)] == ["g002-e1-a0", "g002-e2-a0"]
    found = ledger.attempt(RUN.id, "g001-e1-a0")
    assert found is not None and found in ledger.attempts(RUN.id) and ledger.attempt(RUN.id, "g001-e9-a0") is None
