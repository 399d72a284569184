"""The search for figures, on points whose times a made-up clock has given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clock.fit import SUGGESTED, Fit
from benchmarks.clock.points import Point
from sandbox.target import load_target

CLOCK = load_target("mi300x").clock


@dataclass(frozen=True)
class Linear:
    """A point whose time is a figure of the clock times a factor, as a recorded one would say it."""

    point: Point
    name: str
    factor: float

    def retimed(self, executor: Path, changed: Mapping[str, float]) -> float:
        return self.factor * changed.get(self.name, CLOCK[self.name])

    def predicted_us(self, expected: float) -> float:
        return expected


def point(family: str, measured_us: float) -> Point:
    nowhere = Path("/nowhere")
    return Point(family, "MI300X", "k", {"m": 1}, "f32", measured_us, "warm", nowhere, nowhere, "a/b")


def points_of(**figures: float) -> list[Any]:
    factors = (1.0, 3.0)
    return [Linear(point(name, factor * value), name, factor) for name, value in figures.items() for factor in factors]


def fit(points: list[Any]) -> Fit:
    return Fit(points, Path("/nowhere"), workers=1)


def test_figures_that_explain_the_times_come_near_them() -> None:
    figures, _ = fit(points_of(hbm_latency=950.0, barrier=50.0)).run(CLOCK)
    assert figures["hbm_latency"] == pytest.approx(950.0, rel=0.1)
    assert figures["barrier"] == pytest.approx(50.0, rel=0.1)


def test_a_figure_that_no_point_depends_on_goes_to_what_hardware_suggests() -> None:
    figures, _ = fit(points_of(hbm_latency=950.0)).run(CLOCK)
    assert figures["lds_latency"] == pytest.approx(SUGGESTED["lds_latency"][0], rel=0.01)


def test_no_figure_leaves_what_is_possible() -> None:
    figures, _ = fit(points_of(hbm_share=2.0, issue=1.0)).run(CLOCK)
    assert figures["hbm_share"] <= 0.95 and figures["issue"] == 4


def test_a_family_that_is_left_out_decides_nothing() -> None:
    _, linearised = fit(points_of(hbm_latency=950.0, barrier=50.0)).run(CLOCK)
    without = linearised.solved(left_out="hbm_latency")
    assert without["hbm_latency"] == pytest.approx(SUGGESTED["hbm_latency"][0], rel=0.05)
    assert without["barrier"] == pytest.approx(50.0, rel=0.1)


def test_all_figures_of_the_clock_that_are_fitted_are_suggested() -> None:
    not_fitted = {"slot", "lds_ports", "error", "partial_write", "atomic_clocks"}
    assert set(SUGGESTED) | not_fitted == set(CLOCK)
