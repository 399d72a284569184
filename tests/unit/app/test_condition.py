"""A run at a moment: at work, killed, paused; its generation, its experiments, its best kernel and its cost."""

from __future__ import annotations

import os
from pathlib import Path

from app.condition import Condition, condition
from app.settings import Settings
from records.ledger import Ledger
from tests.unit.conftest import Notebook


def condition_now(notebook: Notebook, folder: Path) -> Condition:
    return condition(Settings(runs_folder=folder), notebook.ledger, notebook.run)


def test_a_run_is_at_work_only_while_a_process_holds_it(notebook: Notebook, tmp_path: Path) -> None:
    notebook.start()
    assert (condition_now(notebook, tmp_path).state, condition_now(notebook, tmp_path).pid) == ("stopped", None)
    with Ledger(notebook.ledger.path) as driver, driver.driving("run-1"):
        state = condition_now(notebook, tmp_path)
        assert (state.state, state.pid, state.reason) == ("running", os.getpid(), "")
    notebook.ledger.finish("run-1", "paused", "waiting for results", "waiting")
    assert (condition_now(notebook, tmp_path).state, condition_now(notebook, tmp_path).reason) == (
        "paused",
        "waiting for results",
    )


def test_progress_best_and_spend_are_those_of_the_records(notebook: Notebook, tmp_path: Path) -> None:
    notebook.start(config={"generations": 4, "budget_usd": 2.0})
    first = notebook.attempt(0, 0, 100.0)
    second = notebook.attempt(1, 1, 50.0, first.id)
    notebook.attempt(1, 2, None, first.id)
    notebook.call("c1", 0.25)
    tell = notebook.ledger.event
    for generation in (0, 1):
        tell("run-1", "generation", {"generation": generation, "of": 4})
    tell("run-1", "stage", {"generation": 0, "experiment": "g000-e0", "stage": "verify"})
    tell("run-1", "stage", {"generation": 1, "experiment": "g001-e1", "stage": "verify"})
    tell("run-1", "attempt", {"generation": 1, "experiment": "g001-e1", "status": "accepted"})
    tell("run-1", "stage", {"generation": 1, "experiment": "g001-e2", "stage": "tune"})
    state = condition_now(notebook, tmp_path)
    assert (state.generation, state.generations, state.attempts, state.accepted) == (1, 4, 3, 2)
    assert state.experiments == {"g001-e1": "accepted", "g001-e2": "tune"}
    assert state.best is not None and (state.best.id, round(state.best.geomean_us)) == (second.id, 50)
    assert (state.llm_calls, state.usd, state.budget_usd) == (1, 0.25, 2.0)
    assert state.shared == {}
    assert state.last_event_at == notebook.ledger.events("run-1")[-1].at
