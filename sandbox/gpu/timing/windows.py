"""Windows of device time: their source, a stored one in its place, and the level that one kernel's windows show.

A window is one stretch of device time between two events: the caches are flushed, then the kernel runs so many calls
that the stretch outlasts the events' own noise, each call on buffers of its own. A level is the median of such windows,
for the report and the roofline. `contrast` decides which of two kernels is faster: two levels measured one after the
other differ by clocks and heat as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sandbox.gpu.timing.interval import Values, median_interval

LONG_US = 160.0  # a window shorter than this is mostly the noise of its two events
MOST_CALLS = 32  # beyond it the host cannot queue all calls before the flush ends


class Windows(Protocol):
    """A source of samples."""

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Time windows for each tag in turn, one after the other: microseconds a call; nan where a sample is void."""
        ...


def calls_a_window(time_us: float, most: int = MOST_CALLS) -> int:
    """Count the calls of a kernel that takes about `time_us` in a window that is long enough."""
    return max(1, min(most, math.ceil(LONG_US / max(time_us, 1e-3))))


class Replay:
    """Stored samples as a source: each tag's windows in the order in which they were measured, round and round.

    What drift, jitter and spikes there were stay where they were in time: the samples are taken as one stream, and a
    tag only gives the factor by which its samples are slower.
    """

    def __init__(self, samples: Sequence[float], factors: Mapping[str, float] | None = None, start: int = 0) -> None:
        """Take `samples` of one kernel in the order measured; a tag that is not in `factors` has 1."""
        if not len(samples):
            raise ValueError("a replay needs at least one sample")
        self._samples: npt.NDArray[np.float64] = np.asarray(samples, np.float64)
        self._factors, self._position = dict(factors or {}), start

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Return the next samples of the stream."""
        indices = (self._position + np.arange(len(order))) % len(self._samples)
        self._position += len(order)
        return [float(t) * self._factors.get(tag, 1.0) for t, tag in zip(self._samples[indices], order, strict=True)]


@dataclass(frozen=True)
class LevelRule:
    """Limits by which a level is known well enough."""

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
    measured = 0
    interval = median_interval(np.asarray([math.nan]), 1.0)
    for look in looks:
        fresh = np.asarray(windows.take([tag] * (look - measured)), np.float64)
        measured = look
        values = np.concatenate([values, fresh[~np.isnan(fresh)]])
        if len(values):
            interval = median_interval(values, rule.alpha / len(looks))
        if interval.high - interval.low <= rule.width * interval.estimate:
            break
    return Level(interval.estimate, interval.low, interval.high, len(values), float(np.min(values, initial=math.inf)))
