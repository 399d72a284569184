"""Runs that meet a limit: they end with their best verified kernel, say which limit, and go on when given more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.author import Specimen, Step
from records.allowance import Allowance
from records.errors import BudgetExhausted
from records.run_meter import RunMeter, kept_of
from tests.support.scripted_run import Bench, faster

TUNED = "// time_us = 50\n// roofline_us = 1\n// tunable ROWS = 4, 1, 2, 8, 16\n"


def limited(bench: Bench, has_gpu: bool = False, clock: Callable[[], float] = lambda: 0.0, **limits: Any) -> Bench:
    """The bench with limits, as a process that takes the run up has them."""
    meter = RunMeter(bench.context.ledger, bench.context.run.id, Allowance(**limits), has_gpu, clock)
    bench.context = replace(bench.context, given_meter=meter)
    return bench


def resumed(bench: Bench, **limits: Any) -> Bench:
    bench.context.ledger.finish(bench.context.run.id, "running")
    return limited(bench, **limits)


def made(bench: Bench) -> int:
    return len(bench.sandbox.calls)


@pytest.mark.parametrize("most", range(30))
def test_evaluations_end_a_run_at_any_number_with_what_was_verified(tmp_path: Path, most: int) -> None:
    bench = limited(Bench(tmp_path, generations=2), max_evaluations=most)
    run = bench.drive()
    assert made(bench) <= most
    assert (run.status, run.pause) in (("done", "limit"), ("done", ""))
    assert ("--max-evaluations" in run.stop_reason) == (run.pause == "limit")
    uninterrupted = Bench(tmp_path / "whole", generations=2)
    uninterrupted.drive()
    assert resumed(bench).drive().status == "done"
    times = {name: a.geomean_us for name, a in uninterrupted.attempts().items() if a.status == "accepted"}
    assert {name: a.geomean_us for name, a in bench.attempts().items() if a.status == "accepted"} == times


def test_a_verified_kernel_in_hand_is_judged_with_what_was_kept(tmp_path: Path) -> None:
    uninterrupted = Bench(tmp_path / "whole", lambda step, base: TUNED, picks=1)
    uninterrupted.drive()
    expected = made(uninterrupted)
    assert uninterrupted.did("estimate") > 3
    bench = limited(Bench(tmp_path, lambda step, base: TUNED, picks=1), max_evaluations=expected - 2)
    run = bench.drive()
    assert run.pause == "limit"
    assert bench.did("estimate") < uninterrupted.did("estimate")
    assert [a.status for n, a in bench.attempts().items() if n.startswith("g001")] == ["accepted"]


def test_wall_time_ends_a_run_and_counts_all_its_processes(tmp_path: Path) -> None:
    now = [0.0]

    def writer(step: Step, base: Specimen) -> str:
        now[0] += 10.0
        return faster(step, base)

    bench = limited(Bench(tmp_path, writer, generations=9), clock=lambda: now[0], max_wall_seconds=45.0)
    run = bench.drive()
    assert run.pause == "limit"
    assert "max-wall-seconds" in run.stop_reason
    spent = now[0]
    assert 40.0 <= spent <= 60.0
    assert resumed(bench, clock=lambda: now[0], max_wall_seconds=45.0).drive().pause == "limit"
    assert now[0] == spent, "nothing is written when the time is up before"
    assert resumed(bench, clock=lambda: now[0], max_wall_seconds=10_000.0).drive().pause == ""
    assert now[0] > spent


def test_gpu_seconds_count_where_there_is_a_gpu_only(tmp_path: Path) -> None:
    for has_gpu in (False, True):
        bench = limited(Bench(tmp_path / str(has_gpu), generations=2), has_gpu, max_gpu_seconds=0.0)
        run = bench.drive()
        assert (run.pause == "limit") == has_gpu
        assert bench.did("verify") == 0 if has_gpu else bench.did("verify") > 0


def test_a_limit_among_the_seeds_ends_the_run_without_a_kernel_and_more_begins_it(tmp_path: Path) -> None:
    bench = limited(Bench(tmp_path), max_evaluations=1)
    run = bench.drive()
    assert (run.status, run.pause) == ("done", "limit")
    assert bench.attempts() == {}
    assert resumed(bench).drive().pause == ""
    assert bench.statuses("g000") == {"g000-e0-a0": "accepted"}


def test_an_experiment_that_was_stopped_is_taken_up_and_no_other_is_done_again(tmp_path: Path) -> None:
    poor = threading.Event()
    poor.set()

    def writer(step: Step, base: Specimen) -> str:
        if step.experiment_id == "g002-e1" and poor.is_set():
            raise BudgetExhausted("nothing is left")
        return faster(step, base)

    bench = Bench(tmp_path, writer, generations=3)
    assert bench.drive().pause == "limit"
    poor.clear()
    asked_count = len(bench.author.asked)
    assert resumed(bench).drive().pause == ""
    repeats = [(role, step.experiment_id) for role, step in bench.author.asked[asked_count:] if step.generation == 2]
    assert repeats == [("write", "g002-e1")]
    assert set(bench.statuses("g003")) == {"g003-e1-a0", "g003-e2-a0"}


def test_the_kept_part_is_a_tenth_and_never_more_than_there_is() -> None:
    assert [kept_of("max_evaluations", most) for most in (0, 1, 10, 1000)] == [0, 1, 1, 32]
    assert kept_of("max_wall_seconds", 3600.0) == 360.0
    assert kept_of("budget_usd", 5.0) == 0.0
