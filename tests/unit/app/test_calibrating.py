from __future__ import annotations

from dataclasses import replace

import pytest

from app.calibrating import fitted, pairs_of, with_benchmarks
from records.agreement import Factor, Pair
from records.errors import UsageError
from records.evaluation import Evaluation, Measurement, Verdict
from sandbox.measured_kernels import MeasuredKernel
from tasks.loader import load_task

TASK = load_task("row_softmax")


def test_factors_are_fitted_by_resource_and_tried_on_their_own_pairs() -> None:
    rows = [Pair("k", f"n={n}", 1.5 * n, n, "hbm") for n in (10, 20, 30)] + [Pair("k", "n=9", 9.0, 18.0, "mfma")]
    fit = fitted(rows)
    assert fit is not None
    assert fit.factors == (Factor("hbm", pytest.approx(1.5), 3), Factor("mfma", pytest.approx(0.5), 1))
    assert fit.before.ratio == pytest.approx(1.5) and fit.after.error == pytest.approx(0.0)
    assert fit.plain["factors"] == {
        "hbm": {"factor": pytest.approx(1.5), "count": 3},
        "mfma": {"factor": pytest.approx(0.5), "count": 1},
    }
    assert fitted([]) is None


def test_cold_stands_beside_cold_and_warm_beside_warm() -> None:
    row = Measurement("a", 10.0, "predicted", "lab", 10.0, 10.0, bound="hbm", warm_us=7.0)
    evaluation = Evaluation(
        "k", "c", {}, Verdict("time", True, "OK"), measurements=(row, replace(row, case="b", warm_us=0))
    )
    kernel = MeasuredKernel("k", "", "sum", {}, {"a": 12.0}, {"a": 8.0, "b": 9.0})
    notes = list[str]()
    assert list(pairs_of(kernel, evaluation, notes.append)) == [
        Pair("k", "a", 12.0, 10.0, "hbm"),
        Pair("k", "a (warm)", 8.0, 7.0, "hbm"),
    ]
    assert notes == ["k: no warm time is predicted for b"]


def test_shapes_of_one_s_own_are_timed_and_others_are_refused() -> None:
    name = TASK.benchmarks[0].name
    assert with_benchmarks(TASK, (name,)) is TASK
    changed = with_benchmarks(TASK, (name, "rows=33,cols=65"))
    assert [(c.name, c.role) for c in changed.benchmarks] == [(name, "benchmark"), ("rows=33,cols=65", "benchmark")]
    assert changed.benchmarks[1].dims == {"rows": 33, "cols": 65} and changed.digest != TASK.digest
    with pytest.raises(UsageError, match="rows=N,cols=N"):
        with_benchmarks(TASK, ("rows=33",))
