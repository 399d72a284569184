"""The whole execution of a leader: beside the next experiments, in force behind them, and once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.author import Specimen, Step
from graph.doubles import TableSandbox
from graph.population import attempt_of
from records.errors import BudgetExhausted, TaskError
from tests.support.scripted_run import SEED, Bench, faster

WRONG = "// fail confirm row 5000 is wrong\n"


def wrong_first(step: Step, base: Specimen) -> str:
    """The fastest kernel of the first generation is wrong where only a whole execution looks."""
    return faster(step, base) + (WRONG if step.experiment_id == "g001-e2" else "")


def test_a_leader_is_built_on_while_it_is_confirmed_and_taken_back_behind_that(tmp_path: Path) -> None:
    def writer(step: Step, base: Specimen) -> str:
        if step.generation == 2:
            assert base.attempt.id == "g001-e2-a0", "nothing waits for the confirmation"
            assert attempt_of(bench.context, base.attempt.id).status == "accepted", "it is not in force yet"
            return f"// {step.experiment_id}\n// time_us = 90\n"
        return wrong_first(step, base)

    bench = Bench(tmp_path, writer, generations=3)
    run = bench.drive()
    assert (run.status, bench.statuses()) == ("done", {"g001-e1-a0": "accepted", "g001-e2-a0": "rejected"})
    led = [(e["generation"], e["attempt"]) for e in bench.told if e["event"] == "best"]
    assert led[:3] == [(0, "g000-e0-a0"), (1, "g001-e2-a0"), (2, "g001-e1-a0")]
    assert [e["message"] for e in bench.told if e["event"] == "warning"] == [
        "g001-e2-a0 led and failed its confirmation; it is taken back"
    ]
    parents = {a.parent_id for a in bench.attempts().values() if a.generation == 3}
    assert parents == {"g001-e1-a0"}
    whole = [source for purpose, source in bench.sandbox.calls if purpose == "confirm"]
    assert len(whole) == len(set(whole)), "each leader is executed whole once"
    waited = [e["generation"] for e in bench.told if e["event"] == "stage" and e["stage"] == "confirm"]
    assert waited == [3], "the run waits at its end alone"


def test_a_run_that_ends_has_its_leader_confirmed_and_fails_where_none_is_right(tmp_path: Path) -> None:
    bench = Bench(tmp_path, wrong_first)
    bench.drive()
    assert bench.statuses() == {"g001-e1-a0": "accepted", "g001-e2-a0": "rejected"}
    assert [e["attempt"] for e in bench.told if e["event"] == "best"][-1] == "g001-e1-a0"
    wrong = Bench(tmp_path / "wrong", lambda step, base: faster(step, base) + WRONG, SEED + WRONG)
    with pytest.raises(TaskError, match="failed its confirmation; nothing else is left"):
        wrong.drive()


def test_a_run_that_goes_on_finds_the_answer_and_no_kernel_is_executed_whole_again(tmp_path: Path) -> None:
    purse = {"is_empty": True}

    def writer(step: Step, base: Specimen) -> str:
        if step.generation == 2 and purse["is_empty"]:
            raise BudgetExhausted("the next coder call could cost more than is left; resume with a larger budget")
        return wrong_first(step, base)

    bench = Bench(tmp_path, writer, generations=3)
    assert bench.drive().pause == "limit"
    purse["is_empty"] = False
    bench.context.ledger.finish(bench.context.run.id, "running")
    assert bench.drive().status == "done"
    whole = [source for purpose, source in bench.sandbox.calls if purpose == "confirm"]
    assert len(whole) == len(set(whole))


def test_what_is_measured_needs_no_confirmation(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: faster(step, base) + WRONG, generations=2)
    bench.context = replace(bench.context, sandbox=TableSandbox("gpu:table", "measured"))
    assert bench.drive().status == "done"
    assert bench.did("confirm") == 0
