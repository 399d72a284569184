"""Ways of a model timed in rounds, from stored windows."""

from __future__ import annotations

import random

import pytest

from exports.models.check.speed import race
from sandbox.gpu.timing.windows import Replay


def drifting(count: int) -> list[float]:
    """Windows of a clock that falls by a fifth, with noise of half a percent."""
    rng = random.Random(1)
    return [1000 * (1 + 0.2 * n / count) * rng.gauss(1, 0.005) for n in range(count)]


def test_a_ratio_is_found_through_drift_with_an_interval_that_holds_it() -> None:
    found = race(
        Replay(drifting(400), {"compiled": 1.0, "applied": 1 / 1.03}), ["compiled", "applied"], random.Random(0)
    )
    ratio = found.speed("applied", "compiled")
    assert ratio.low < 1.03 < ratio.high and ratio.high - ratio.low < 0.02
    assert found.fastest(["compiled", "applied"]) == "applied"
    assert ratio.text.startswith("1.0")


def test_equal_ways_are_not_told_apart() -> None:
    found = race(Replay(drifting(400)), ["with", "without"], random.Random(0))
    ratio = found.speed("with", "without")
    assert ratio.low < 1 < ratio.high


@pytest.mark.parametrize("rounds", [10, 30])
def test_void_windows_do_not_count(rounds: int) -> None:
    samples = [1000.0, float("nan"), 1001.0, 999.0, 1000.0]
    found = race(Replay(samples), ["a", "b"], random.Random(0), rounds)
    assert found.speed("a", "b").estimate == pytest.approx(1, abs=0.01)
