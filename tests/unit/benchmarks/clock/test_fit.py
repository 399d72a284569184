"""The search for figures, on points whose times a made-up clock has given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clock.fit import LIMITS, Fit
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


def fit(**wanted: float) -> Fit:
    points: list[Any] = [
        Linear(point(name, factor * value), name, factor) for name, value in wanted.items() for factor in (1.0, 3.0)
    ]
    return Fit(points, Path("/nowhere"), workers=1)


def test_figures_that_explain_the_times_are_found() -> None:
    found = fit(hbm_latency=1050.0, barrier=50.0).run()
    assert found["hbm_latency"] == pytest.approx(1050.0, rel=0.15)
    assert found["barrier"] == pytest.approx(50.0, rel=0.25)


def test_no_figure_leaves_its_limits() -> None:
    found = fit(l1_latency=1.9 * CLOCK["l1_latency"]).run()
    assert found["l1_latency"] <= LIMITS["l1_latency"][1]


def test_all_figures_of_the_clock_that_are_not_stated_have_limits() -> None:
    assert set(LIMITS) | {"slot", "lds_ports", "error"} >= set(CLOCK)
