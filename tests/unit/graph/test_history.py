"""What the selector and the planner are shown of a run, and that it costs no more late in a run than early."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from graph.history import RECENT, SHOWN, History
from records.errors import LedgerError
from records.evaluation import Evaluation, Measurement, TimeKind, Verdict
from records.experiment import Attempt, Experiment, Run
from records.ledger import Ledger

RUN = Run("r", "t", "mi300x", "lab", "playbook", 7)


class Notebook:
    """A ledger filled one attempt at a time."""

    def __init__(self, path: Path) -> None:
        self.ledger = Ledger(path)
        self.ledger.add_run(RUN)
        self.history = History(self.ledger, RUN.id)

    def add(
        self,
        generation: int,
        time_us: float | None,
        slot: int = 1,
        number: int = 0,
        kind: TimeKind = "predicted",
        parent: str | None = "g000-e1-a0",
        **more: Any,
    ) -> Attempt:
        """An experiment with an attempt: accepted where it has a time."""
        name = f"g{generation:03d}-e{slot}"
        experiment = Experiment(name, RUN.id, generation, slot, parent, None, f"idea {generation}.{slot}", "")
        self.ledger.add_experiment(replace(experiment, gain_min_pct=10.0, gain_max_pct=30.0))
        key = f"key {name} {number}"
        if time_us is not None:
            row = Measurement("b", time_us, kind, "d", time_us, time_us)
            made = Evaluation(key, "c", {}, Verdict("time", True, "OK"), measurements=(row,))
            self.ledger.add_evaluation(RUN.id, made)
        status = "rejected" if time_us is None else "accepted"
        timed = {"geomean_us": time_us, "time_kind": kind} if time_us else {}
        fields: dict[str, Any] = {"parent_id": parent if generation else None, "status": status, **timed, **more}
        attempt = Attempt(f"{name}-a{number}", RUN.id, name, generation, number, "c", "s", evaluation_key=key, **fields)
        self.ledger.add_attempt(attempt)
        return attempt

    def shown(self, before: int, leader: str = "g000-e1-a0") -> list[str]:
        return [member.id for member in self.history.members(before, leader)]


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    made = Notebook(tmp_path / "ledger.db")
    yield made
    made.ledger.close()


def test_only_accepted_kernels_of_earlier_generations_timed_alike_are_members(notebook: Notebook) -> None:
    notebook.add(0, 10.0)
    notebook.add(1, None)
    notebook.add(1, 9.0, slot=2)
    notebook.add(1, 8.0, slot=3, kind="measured")
    notebook.add(2, 7.0)
    assert notebook.shown(2) == ["g000-e1-a0", "g001-e2-a0"]
    [seed, child] = notebook.history.members(2, "g000-e1-a0")
    assert (child.title, child.parent_id, child.times_us) == ("idea 1.2", seed.id, {"b": 9.0})
    assert child.geomean_us == pytest.approx(9.0)


def test_an_accepted_attempt_without_its_evaluation_is_a_damaged_ledger(notebook: Notebook) -> None:
    notebook.add(0, None, status="accepted")
    with pytest.raises(LedgerError, match="no evaluation for attempt g000-e1-a0; restore it"):
        notebook.shown(1)


def test_of_many_kernels_the_first_the_leader_and_the_fastest_are_shown_in_their_order(notebook: Notebook) -> None:
    with notebook.ledger.together():
        for generation in range(SHOWN + 40):
            notebook.add(generation, 1000.0 - 2 * generation if generation != 60 else 5000.0)
    shown = notebook.shown(SHOWN + 40, leader="g060-e1-a0")
    late = [f"g{generation:03d}-e1-a0" for generation in range(40, SHOWN + 40) if generation != 60]
    assert shown == ["g000-e1-a0", "g039-e1-a0", *late, "g060-e1-a0"]
    assert len(notebook.shown(SHOWN)) == SHOWN, "a replay sees what there was: as many as may be shown"
    assert notebook.shown(3) == ["g000-e1-a0", "g001-e1-a0", "g002-e1-a0"]


def test_memory_tells_failures_and_lessons_newest_first_and_how_predictions_did(notebook: Notebook) -> None:
    notebook.add(0, 10.0)
    notebook.add(1, None, status="failed", code="B.3", reason="reads past x", lesson="check x")
    notebook.add(2, 8.0, lesson="works")
    notebook.add(3, None, status="failed", reason="of the future")
    memory = notebook.history.memory(3)
    assert memory.tried == ("idea 1.1", "idea 2.1"), "no seed is an experiment"
    assert memory.failures == ("idea 1.1: B.3: reads past x",)
    plain = History(notebook.ledger, RUN.id, classifies=False).memory(3)
    assert plain.failures == ("idea 1.1: failed: reads past x",)
    assert memory.lessons == ("works",), "a writer's failure says nothing of the idea"
    assert "Of 2 experiments so far 1 never gave a working kernel" in memory.calibration
    assert (
        "Of the 1 that worked, 0 gained what had been predicted, 0 less, 0 more, 1 something within a range too wide"
        in memory.calibration
    )
    assert notebook.history.memory(2).tried == ("idea 1.1",)


def test_an_experiment_ends_with_its_last_attempt_and_a_duplicate_is_no_outcome(notebook: Notebook) -> None:
    notebook.add(0, 10.0)
    notebook.add(1, None)
    notebook.add(1, 5.0, number=1)
    notebook.add(1, None, slot=2, status="duplicate")
    notebook.add(1, 5.0, slot=3, kind="measured")
    assert "Of 1 experiment so far 0 never gave a working kernel" in notebook.history.memory(2).calibration


def test_an_exploration_is_told_by_its_changes_and_is_no_prediction_of_the_planner(notebook: Notebook) -> None:
    notebook.add(0, 10.0)
    explored = Experiment("g001-e1", RUN.id, 1, 1, "g000-e1-a0", None, "explore changes", "", picked_as="explore")
    notebook.ledger.add_experiment(explored)
    planned = notebook.add(1, 2.0, slot=2)
    made = replace(planned, id="g001-e1-a0", experiment_id="g001-e1", candidate_id="other", report=("unroll:4",))
    notebook.ledger.add_attempt(made)
    said = notebook.history.memory(2)
    assert said.calibration.startswith("Of 1 experiment so far")
    assert "unroll:4 (found by exploring g000-e1-a0)" in [m.title for m in said.kernels]


@pytest.mark.parametrize(("error", "reward"), [(0.0, 0.3219), (0.3, 0.0)])
def test_a_tie_earns_the_rule_that_picked_it_nothing(notebook: Notebook, error: float, reward: float) -> None:
    notebook.add(0, 10.0)
    made = notebook.add(1, 8.0, time_error=error)
    arm = notebook.history.bandit(2).arms[""]
    assert made.status == "accepted" and arm.reward == pytest.approx(reward, abs=1e-4)


def test_failures_are_capped_and_titles_are_not(notebook: Notebook) -> None:
    for generation in range(1, RECENT + 5):
        notebook.add(generation, None, reason="wrong")
    memory = notebook.history.memory(100)
    assert len(memory.failures) == RECENT and memory.failures[0].startswith(f"idea {RECENT + 4}.1")
    assert len(memory.tried) == RECENT + 4


def test_a_history_that_grew_says_what_a_new_one_says_at_every_bound(notebook: Notebook) -> None:
    for generation in range(30):
        notebook.add(generation, None if generation % 4 == 3 else 100.0 - generation + 7 * (generation % 3), lesson="a")
        grown = notebook.history.memory(generation + 1), notebook.history.members(generation + 1, "g000-e1-a0")
        new = History(notebook.ledger, RUN.id)
        assert grown == (new.memory(generation + 1), new.members(generation + 1, "g000-e1-a0"))
    errors = sorted(a.geomean_us or 0.0 for a in notebook.ledger.attempts(RUN.id) if a.generation and a.geomean_us)
    middle = median([100.0 * (100.0 / time_us - 1.0) - 20.0 for time_us in errors])
    assert f"lay {round(abs(middle))} percentage points" in notebook.history.memory(30).calibration


class CountingLedger(Ledger):
    """Counts the records it builds."""

    decoded = 0

    def _decoded(self, kind: Any, body: str) -> Any:
        self.decoded += 1
        return super()._decoded(kind, body)


def test_every_record_is_read_once_however_many_generations_ask(notebook: Notebook) -> None:
    with notebook.ledger.together():
        for generation in range(300):
            notebook.add(generation, 1000.0 - generation)
    with CountingLedger(notebook.ledger.path) as ledger:
        history, costs = History(ledger, RUN.id), []
        for generation in range(1, 301):
            before = ledger.decoded
            history.members(generation, "g000-e1-a0")
            history.memory(generation)
            costs.append(ledger.decoded - before)
    assert max(costs) <= 4, "its experiment, its attempt, its evaluation, and the parent where it was long ago"
