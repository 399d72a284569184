"""Ways to run one model, timed in rounds: each round times every way once, in an order drawn again.

Two ways are compared by the logarithms of their times within each round, so that clocks and heat, which change from
round to round, cancel; the interval is that of their median, by order statistics.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandbox.gpu.timing.interval import median_interval
from sandbox.gpu.timing.windows import Windows

ALPHA = 0.05  # chance that the true ratio is outside of its interval
ROUNDS, WARM = 60, 3


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one way is as another, with the ends of its interval."""

    estimate: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """For people: `1.03x (1.02 to 1.04)`."""
        return f"{self.estimate:.3g}x ({self.low:.3g} to {self.high:.3g})" if self.estimate >= 10 else self._fine

    @property
    def _fine(self) -> str:
        return f"{self.estimate:.3f}x ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Race:
    """Samples of every way in microseconds a call, one for each round; nan where one is void."""

    samples: Mapping[str, tuple[float, ...]]

    def median_us(self, way: str) -> float:
        """Return the median time of a way."""
        return float(np.nanmedian(np.asarray(self.samples[way])))

    def fastest(self, ways: Sequence[str]) -> str:
        """Return the way with the least median."""
        return min(ways, key=self.median_us)

    def speed(self, way: str, over: str) -> Ratio:
        """Compute how many times as fast `way` is as `over`."""
        logs = np.log(np.asarray(self.samples[over]) / np.asarray(self.samples[way]))
        interval = median_interval(logs[~np.isnan(logs)], ALPHA)
        return Ratio(*(math.exp(value) for value in (interval.estimate, interval.low, interval.high)))


def race(windows: Windows, ways: Sequence[str], rng: random.Random, rounds: int = ROUNDS) -> Race:
    """Time all ways in rounds; the first rounds warm up and do not count."""
    samples: dict[str, list[float]] = {mode: [] for mode in ways}
    for _ in range(rounds + WARM):
        order = rng.sample(list(ways), len(ways))
        for mode, time_us in zip(order, windows.take(order), strict=True):
            samples[mode].append(float(time_us))
    return Race({mode: tuple(times[WARM:]) for mode, times in samples.items()})
