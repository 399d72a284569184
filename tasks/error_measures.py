"""The three measures of an output's errors, and by how much one's are larger than another's."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from tasks.dtypes import is_float, spacing_at
from tasks.task import Array
from tasks.tolerance import Tolerance

WORST = 1e30  # the error of an answer that has no finite error; finite, so that it is plain JSON
QUANTILE = 0.999
_MANY = 1 << 12
SQUARED = (1e-140, 1e140)  # a largest value of which no square that counts leaves the range of float64


@dataclass(frozen=True)
class Measures:
    """The largest of some errors, their root mean square and their 99.9th percentile."""

    largest: float
    rms: float
    quantile: float

    @property
    def alike(self) -> Measures:
        """The largest for all three: what any one element may show of a few."""
        return Measures(self.largest, self.largest, self.largest)

    def at_least(self, other: Measures) -> Measures:
        """Take each measure, or the other's where that is larger."""
        return Measures(*map(max, astuple(self), astuple(other)))


def floor_of(magnitude: Measures, dtype: np.dtype[Any], tolerance: Tolerance) -> Measures:
    """Give a few units of the output's type where each measure of the reference's magnitudes lies; none of integers."""
    if not is_float(dtype):
        return Measures(0.0, 0.0, 0.0)
    units = tolerance.units if dtype.itemsize >= 4 else 0.5
    return Measures(*(tolerance.least + units * spacing_at(value, dtype) for value in astuple(magnitude)))


def measures_of(error: Array) -> Measures:
    """Compute all three of these errors."""
    if not error.size:  # the baseline is finite nowhere: it gives no allowance
        return Measures(0.0, 0.0, 0.0)
    rank, largest = min(error.size - 1, int(np.ceil(QUANTILE * error.size))), float(error.max())
    if largest == 0:
        return Measures(0.0, 0.0, 0.0)
    return Measures(largest, _rms(error, largest), _ranked(error, rank))


def _ranked(values: Array, rank: int) -> float:
    """Find the value with this rank, counted from the smallest. Of many only the tail is sorted, found by a sample."""
    above = values.size - rank  # the value itself among them
    if values.size > _MANY:
        sample = values[:: values.size // 2048]
        high = np.partition(sample, int(0.99 * sample.size))[int(0.99 * sample.size)]
        tail = values[values > high]
        if tail.size >= above:
            return float(np.partition(tail, tail.size - above)[tail.size - above])
        if np.count_nonzero(values >= high) >= above:
            return float(high)  # as of errors that are mostly zero
    return float(np.partition(values, rank)[rank])


def _rms(values: Array, largest: float) -> float:
    """Compute the root mean square of values that are not negative."""
    if SQUARED[0] < largest < SQUARED[1]:
        return math.sqrt(float(np.einsum("i,i->", values, values)) / values.size)  # without an array of squares
    scaled = values / largest  # keeps the squares in range
    return largest * float(np.sqrt(np.mean(np.square(scaled, out=scaled))))


def over(error: float, baseline_error: float, floor: float, ratio: float) -> float:
    """Divide the error by the baseline's; at most `ratio` exactly where error <= ratio * baseline_error + floor."""
    allowed = ratio * baseline_error + floor
    if error <= allowed:
        return min(ratio, ratio * error / allowed) if allowed > 0 else 0.0
    return min(WORST, ratio * error / allowed) if allowed > 0 else WORST
