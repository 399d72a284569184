"""Evaluations in words and in means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from records.evaluation import (
    CaseComparison,
    CaseResult,
    Comparison,
    Contrast,
    Evaluation,
    Finding,
    HotLine,
    Measurement,
    Verdict,
    comparison_key,
    kind_named,
)


def compared(verdict: Contrast, ratio: float, low: float, high: float) -> Comparison:
    return Comparison("k", "a", "b", verdict, ratio, low, high)


@pytest.mark.parametrize(
    ("comparison", "words", "figures"),
    [
        (compared("faster", 0.8, 0.5, 1.0), "faster by", "25.0 % (0.0 to 100.0, 0 windows)"),
        (compared("slower", 1.25, 1.1, 1.5), "slower by", "25.0 % (10.0 to 50.0, 0 windows)"),
        (compared("same", 0.8, 0.8, 1.25), "the same speed", "25.0 % (-20.0 to 25.0, 0 windows)"),
        (compared("undecided", 0.8, 0.8, 1.25), "undecided", "25.0 % (-20.0 to 25.0, 0 windows)"),
    ],
)
def test_a_comparison_is_told_in_per_cent_of_the_shorter_time(comparison: Comparison, words: str, figures: str) -> None:
    assert comparison.text.startswith(words) and comparison.text.endswith(figures)


def test_the_key_of_a_comparison_tells_who_challenges() -> None:
    assert comparison_key("a", "b") == comparison_key("a", "b") != comparison_key("b", "a")
    assert comparison_key("a", "bc") != comparison_key("ab", "c")


def test_the_cause_of_a_stall_is_told_beside_its_time_alone() -> None:
    line = HotLine(3, "k", {}, {}, "lds")
    assert line.title("stall_us").startswith("stall us") and "lds" in line.title("stall_us")
    assert line.title("l1_misses") == "l1 misses" and HotLine(3, "k", {}, {}).title("stall_us") == "stall us"


def timed(time_us: float, weight: float = 1.0, error: float = 0.0, **needs: float) -> Measurement:
    return Measurement("b", time_us, "predicted", "d", 1, 2, weight=weight, error=error, resources_us=needs)


def evaluated(*rows: Measurement) -> Evaluation:
    return Evaluation("k", "c", {}, Verdict("time", True, "OK"), measurements=rows)


def test_times_are_averaged_by_their_weights() -> None:
    made = evaluated(timed(2, 3, 0.1), timed(32, 1, 0.5))
    assert made.geomean_us == pytest.approx(4) and made.time_error == pytest.approx(0.2)
    assert made.time_kind == "predicted"
    for nothing in (evaluated(), evaluated(timed(2, 0))):
        assert nothing.geomean_us is None and nothing.time_error == 0.0
    assert evaluated().time_kind is None and evaluated().rank_us is None


def test_of_equal_times_the_one_that_needs_less_beside_ranks_first() -> None:
    less, more = (evaluated(timed(10, hbm=10, lds=other)) for other in (1, 5))
    assert less.geomean_us == more.geomean_us
    assert less.rank_us is not None and more.rank_us is not None and 10 <= less.rank_us < more.rank_us < 10.2


@pytest.mark.parametrize(
    ("drawn", "grid", "executed", "chance"),
    [
        (3, 12, 1.0, 0.0),
        (0, 0, 0.5, 0.0),
        (0, 200, 0.5, 1.0),
        (1, 200, 0.5, 0.99),
        (2, 200, 0.5, 0.99 * (1 - 2 / 199)),
        (1, 201, 0.5, 1 - 3 / 201),
        (10, 12, 0.9, 1 / 6),
        (12, 12, 0.9, 0.0),
    ],
)
def test_the_chance_to_miss_an_error_is_that_of_a_sample(drawn: int, grid: int, executed: float, chance: float) -> None:
    row = CaseResult("b", "benchmark", True, executed=executed, drawn=drawn, grid=grid)
    assert row.miss_chance == pytest.approx(chance) and row.is_whole is (executed == 1.0)
    assert not CaseResult("b", "benchmark", True, compared=0.9).is_whole


def test_the_windows_of_a_comparison_are_those_of_its_cases() -> None:
    cases = tuple(CaseComparison(name, 0.9, 0.8, 1.0, "faster", windows) for name, windows in (("a", 5), ("b", 7)))
    assert replace(compared("faster", 0.9, 0.8, 1.0), cases=cases).windows == 12


def test_a_share_of_the_roofline_needs_a_time() -> None:
    assert replace(timed(10), roofline_us=4).roofline_fraction == 0.4
    assert replace(timed(0.5), roofline_us=0.4).roofline_fraction == 0.8
    assert replace(timed(0), roofline_us=4).roofline_fraction == 0.0


def test_findings_keep_to_the_vocabulary() -> None:
    assert Finding("race", "m", code="B.1").kind == "race" == kind_named("race")
    for kind, code in (("odd", None), ("race", "Z.9")):
        with pytest.raises(ValueError, match="no kind"):
            Finding(kind, "m", code=code)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not in"):
        kind_named("odd")
