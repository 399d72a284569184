from __future__ import annotations

from dataclasses import replace

import pytest

from records.evaluation import Evaluation, Measurement, TimeKind, Verdict
from records.ranking import by_level, is_shorter, is_slight, tie_text, ties

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


def with_error(time_us: float, error: float, kind: TimeKind = "predicted") -> Evaluation:
    return evaluation(replace(ROW, time_us=time_us, ci_low_us=time_us, ci_high_us=time_us, kind=kind, error=error))


@pytest.mark.parametrize(
    ("new_us", "old_us", "errors", "is_tie", "is_gain"),
    [
        (10.0, 10.9, (0.1, 0.1), True, False),
        (10.0, 11.1, (0.1, 0.1), False, True),
        (10.0, 10.9, (0.0, 0.1), True, False),
        (11.1, 10.0, (0.1, 0.1), False, False),
        (10.0, 10.2, (0.0, 0.0), False, True),
        (10.0, 10.005, (0.0, 0.0), False, False),
    ],
)
def test_predicted_times_within_the_clock_s_error_are_equal(
    new_us: float, old_us: float, errors: tuple[float, float], is_tie: bool, is_gain: bool
) -> None:
    new, old = with_error(new_us, errors[0]), with_error(old_us, errors[1])
    assert (ties(new, old), ties(old, new)) == (is_tie, is_tie)
    assert (is_shorter(new, old), by_level(new, old)) == (is_gain, is_gain)


def test_an_error_is_of_predicted_times_alone() -> None:
    new, old = with_error(10.0, 0.3, "measured"), with_error(12.0, 0.3, "measured")
    assert not ties(new, old) and by_level(new, old) is True
    assert not ties(new, with_error(12.0, 0.3)), "two kinds of time are never compared"
    assert not is_shorter(with_error(10.0, 0.0), with_error(12.0, 0.0, "measured"))


def test_cases_share_their_error_by_weight() -> None:
    rows = (replace(ROW, error=0.1, weight=3.0), replace(ROW, error=0.2))
    assert evaluation(*rows).time_error == pytest.approx(0.125)
    assert evaluation().time_error == 0.0


def test_a_slight_gain_lies_within_the_error() -> None:
    assert is_slight(7.9, 0.08) and is_slight(-7.0, 0.08) and not is_slight(8.1, 0.08)
    assert not is_slight(0.01, 0.0)
    assert tie_text(0.083) == "equal within the clock's error of 8.3 %"
