from __future__ import annotations

from dataclasses import replace

import pytest

from records.evaluation import Evaluation, Measurement, Verdict

ROW = Measurement("a", 10.0, "predicted", "lab", 10.0, 10.0, resources_us={"hbm": 7.0, "valu": 1.0})


def evaluation(*rows: Measurement) -> Evaluation:
    return Evaluation("k", "c", {}, Verdict("time", True, "OK"), measurements=rows)


def test_the_rank_orders_equal_bounds_by_what_else_is_busy() -> None:
    busier = replace(ROW, resources_us={"hbm": 7.0, "valu": 5.0})
    assert evaluation(ROW).geomean_us == evaluation(busier).geomean_us
    ranks = evaluation(ROW).rank_us, evaluation(busier).rank_us
    assert ranks == (pytest.approx(10.01), pytest.approx(10.05))


def test_measured_times_rank_as_they_are() -> None:
    measured = replace(ROW, kind="measured", resources_us={})
    assert evaluation(measured).rank_us == pytest.approx(10.0)
    assert evaluation().rank_us is None
