"""How the times of two checkouts become figures."""

from __future__ import annotations

import pytest

from benchmarks.machine_speed import CHILD, Times, figures, geometric_mean, means


def test_a_task_sums_its_verdicts_and_averages_its_estimates() -> None:
    ours = {"a": Times(1.0, 0.1, 0.0, True), "b": Times(2.0, 0.3, 0.0, True)}
    theirs = {"a": Times(4.0, 0.4, 0.0, True), "b": Times(2.0, 0.4, 0.0, True)}
    verdict, estimate = figures("scan", ours, theirs)
    assert (verdict.value, verdict.anchor_value, verdict.met) == (3.0, 6.0, True)
    assert (estimate.value, estimate.anchor_value, estimate.met) == (pytest.approx(0.2), pytest.approx(0.4), True)


def test_whole_executions_are_to_take_half_and_the_worst_task_is_told() -> None:
    rows = [
        row
        for name, whole_s in (("a", 0.4), ("b", 0.9))
        for row in figures(name, {"seed": Times(1.0, 0.1, whole_s, True)}, {"seed": Times(2.0, 0.1, 1.0, True)})
    ]
    assert [row.met for row in rows if row.figure.startswith("machine_speed.whole.")] == [True, False]
    ratios = {row.figure: row.value for row in means(rows)}
    assert ratios["machine_speed.whole"] == pytest.approx(0.6)
    assert ratios["machine_speed.whole.worst"] == pytest.approx(0.9)


def test_a_mean_of_ratios_is_geometric() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)


def test_what_runs_in_a_checkout_is_python() -> None:
    compile(CHILD, "child", "exec")
