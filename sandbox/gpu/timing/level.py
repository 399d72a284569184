"""How long one kernel takes: the median of its windows, with an interval that assumes nothing of the noise.

For the report and the roofline. Which of two kernels is faster is for `contrast`: two levels measured one after the
other differ by clocks and heat as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sandbox.gpu.timing.interval import Values, median_interval
from sandbox.gpu.timing.windows import Windows


@dataclass(frozen=True)
class LevelRule:
    """When to stop."""

    alpha: float = 0.05  # chance that the true median is outside of the interval, all looks together
    width: float = 0.01  # stop when the interval is narrower than this part of the median
    least: int = 12
    most: int = 200
    growth: float = 1.5
    warm: int = 3  # windows that are measured and thrown away first


@dataclass(frozen=True)
class Level:
    """Microseconds a call."""

    median_us: float
    low_us: float
    high_us: float
    samples: int  # those that count
    minimum_us: float


def level(windows: Windows, tag: str, rule: LevelRule) -> Level:
    """Measure one kernel until its median is known well enough, or to the cap; nan when every sample was void."""
    looks = [rule.least]
    while looks[-1] < rule.most:
        looks.append(min(rule.most, math.ceil(looks[-1] * rule.growth)))
    windows.take([tag] * rule.warm)
    values: Values = np.empty(0)
    taken = 0
    found = median_interval(np.asarray([math.nan]), 1.0)
    for look in looks:
        fresh = np.asarray(windows.take([tag] * (look - taken)), np.float64)
        taken = look
        values = np.concatenate([values, fresh[~np.isnan(fresh)]])
        if len(values):
            found = median_interval(values, rule.alpha / len(looks))
        if found.high - found.low <= rule.width * found.estimate:
            break
    return Level(found.estimate, found.low, found.high, len(values), float(np.min(values, initial=math.inf)))
