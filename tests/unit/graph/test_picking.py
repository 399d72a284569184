"""The choice of three from five, and the calibration of predictions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.author import Idea
from graph.calibration import Calibration, Forecast, gain_pct, paragraph
from graph.picking import pick


@st.composite
def ideas(draw: st.DrawFn) -> list[Idea]:
    numbers = st.integers(0, 3).map(float)  # few values, so that ties are common
    rows = draw(st.lists(st.tuples(numbers, numbers, numbers), max_size=7))
    return [Idea(f"i{n}", "", (), low, low + more, new) for n, (low, more, new) in enumerate(rows)]


@pytest.mark.slow
@given(ideas(), st.integers(0, 6))
def test_picks_are_distinct_ordered_and_the_best_of_what_was_left(given_ideas: list[Idea], count: int) -> None:
    picked = pick(given_ideas, count)
    assert len(picked) == min(count, len(given_ideas))
    assert len({i.title for i, _ in picked}) == len(picked)
    assert [rule for _, rule in picked] == (["most_innovative", "highest_potential", "most_certain"] * 2)[: len(picked)]
    key = {
        "most_innovative": lambda i: i.innovation,
        "highest_potential": lambda i: i.gain_max_pct,
        "most_certain": lambda i: i.gain_min_pct,
    }
    left = list(given_ideas)
    for idea, rule in picked:
        assert idea == next(i for i in left if key[rule](i) == max(map(key[rule], left)))
        left.remove(idea)
    assert pick(given_ideas, count) == picked


def test_one_idea_that_wins_everything_is_picked_once() -> None:
    best, other, third = (Idea(t, "", (), g, g, g) for t, g in (("a", 9.0), ("b", 2.0), ("c", 1.0)))
    assert [i.title for i, _ in pick([third, best, other])] == ["a", "b", "c"]


def test_gains_are_percent_of_the_parents_speed() -> None:
    assert gain_pct(100, 50) == pytest.approx(100)
    assert gain_pct(50, 100) == pytest.approx(-50)


def calibrated(*outcomes: Forecast) -> Calibration:
    found = Calibration()
    for outcome in outcomes:
        found.add(outcome)
    return found


def test_an_optimist_is_told_so() -> None:
    found = calibrated(Forecast(40, 60, 5.0), Forecast(30, 50, 0.0), Forecast(20, 40, 25.0), Forecast(10, 20, None))
    assert (found.verified, found.failed, found.inside, found.below, found.above) == (3, 1, 1, 2, 0)
    assert found.coverage == pytest.approx(1 / 3)
    assert found.bias_pct == pytest.approx(-40)
    assert "too high: lower them by about 40" in paragraph(found)


@pytest.mark.parametrize(("gain", "place"), [(9.9, "below"), (10.0, "inside"), (20.0, "inside"), (20.1, "above")])
def test_the_ends_of_a_range_belong_to_it(gain: float, place: str) -> None:
    counts = calibrated(Forecast(10.0, 20.0, gain))
    assert {name: getattr(counts, name) for name in ("below", "inside", "above")} == {
        name: int(name == place) for name in ("below", "inside", "above")
    }
    assert (counts.coverage, counts.bias_pct) == (float(place == "inside"), pytest.approx(gain - 15))


def test_a_pessimist_is_told_so_and_a_calm_one_is_left_alone() -> None:
    assert "too low" in paragraph(calibrated(*[Forecast(0, 5, 30.0)] * 3))
    assert "too" not in paragraph(calibrated(*[Forecast(25, 35, 30.0)] * 3))
    wide = calibrated(*[Forecast(0, 50, 30.0)] * 3)
    assert (wide.inside, wide.wide) == (0, 3) and "Narrow your ranges" in paragraph(wide)
    assert paragraph(calibrated()) == ""
    assert paragraph(calibrated(Forecast(0, 5, None))) == "Of 1 experiment so far 1 never gave a working kernel."
    assert "lay 1 percentage point above" in paragraph(calibrated(Forecast(0, 10, 6.0)))
