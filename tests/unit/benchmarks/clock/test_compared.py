"""Predicted beside measured times: grouped by shape, with what could not be predicted beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.compared import Compared, by_work, compare, show
from benchmarks.clock.points import Point


def point(label: str, measured_us: float, m: int) -> Point:
    """A point of a made-up family; nothing is read of it."""
    nowhere = Path("/nowhere")
    return Point("made_up", "MI300X", label, {"m": m}, "f32", measured_us, "warm", nowhere, nowhere, "a/b")


POINTS = [point("a", 10.0, 1), point("b", 20.0, 1), point("c", 40.0, 2), point("d", 8.0, 1)]
ANSWERS: dict[str, tuple[float, float] | str] = {
    "a": (12.0, 11.0),
    "b": (11.0, 5.0),
    "c": (30.0, 5.0),
    "d": "reads out of bounds",
}


def test_each_shape_has_its_own_agreement() -> None:
    reported: list[Compared] = []
    compared = compare(POINTS, lambda p: ANSWERS[p.label], reported.append)
    assert reported == compared
    groups = by_work(compared)
    assert set(groups) == {("made_up", "MI300X", "m=1"), ("made_up", "MI300X", "m=2")}
    first = groups["made_up", "MI300X", "m=1"]
    assert (first.count, first.above) == (2, 1)  # d has no prediction; the bound of a lies above its time
    assert first.regret == pytest.approx(2.0)  # b is chosen, a is best; d does not count
    assert first.error == pytest.approx((0.2 + 0.45) / 2)


def test_what_is_shown_names_the_medians_and_the_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    show(compare(POINTS, lambda p: ANSWERS[p.label], lambda point: None))
    output = " ".join(capsys.readouterr().out.split())
    assert "made_up: 3 points, predicted/measured 0.75, error 0.25" in output
    assert "over 1 shapes" in output and "regret 2.00 (worst 2.00)" in output  # m=2 has one kernel, so no choice
    assert "MI300X m=1 2" in output and "MI300X m=2" not in output
    assert "not predicted: made_up d: reads out of bounds" in output


def test_nothing_predicted_is_shown_as_refusals_alone(capsys: pytest.CaptureFixture[str]) -> None:
    show(compare(POINTS[3:], lambda p: ANSWERS[p.label], lambda point: None))
    assert " ".join(capsys.readouterr().out.split()) == "not predicted: made_up d: reads out of bounds"
