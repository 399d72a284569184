"""The level of one kernel: its median, an interval that covers it, and no more windows than it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.noise import Noise, Simulated
from sandbox.gpu.timing.windows import LevelRule, Replay, level


def test_a_quiet_kernel_needs_few_windows_and_a_noisy_one_all() -> None:
    rule = LevelRule()
    quiet = level(Simulated(Noise(drift=0.0, jitter=0.002), 1, time_us=50.0), "A", rule)
    noisy = level(Simulated(Noise(drift=0.0, jitter=0.5), 1, time_us=50.0), "A", rule)
    assert quiet.samples == rule.least
    assert quiet.high_us - quiet.low_us <= rule.width * quiet.median_us
    assert noisy.samples == rule.most
    assert quiet.minimum_us <= quiet.low_us <= quiet.median_us <= quiet.high_us


@pytest.mark.slow
def test_the_interval_covers_the_true_median() -> None:
    noise, missed = Noise(drift=0.0, jitter=0.05, spikes=0.1), 0
    truth = float(np.median(Simulated(noise, 99, time_us=50.0).take("A" * 20_000)))
    for seed in range(300):
        measured = level(Simulated(noise, seed, time_us=50.0), "A", LevelRule())
        missed += not measured.low_us <= truth <= measured.high_us
    assert missed <= 15  # 5 % is allowed


def test_spikes_and_the_warm_up_move_nothing() -> None:
    samples = [900.0, 900.0, 900.0] + [10.0, 10.1, 10.2, 10.3, 40.0] * 40
    measured = level(Replay(samples), "A", LevelRule(least=100, most=100))
    assert (measured.median_us, measured.minimum_us) == (10.2, 10.0)
    assert measured.high_us < 11


class Void:
    def take(self, order: Sequence[str]) -> Sequence[float]:
        return [math.nan] * len(order)


def test_without_one_good_sample_there_is_no_level() -> None:
    measured = level(Void(), "A", LevelRule())
    assert measured.samples == 0
    assert math.isnan(measured.median_us)
