"""A mean with Student's interval of 95 %."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# The 97.5 % quantile of Student's distribution by degrees of freedom; beyond, that of the normal one.
QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
NORMAL = 1.96


@dataclass(frozen=True)
class Difference:
    """A mean over paired campaigns, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """For the page: `1.2 (0.4 to 2.0)`."""
        return f"{self.mean:+.2f} ({self.low:+.2f} to {self.high:+.2f})"


def difference(values: Sequence[float]) -> Difference:
    """Mean and Student's interval of at least two paired differences."""
    mean = statistics.fmean(values)
    degrees = len(values) - 1
    quantile = QUANTILES[degrees - 1] if degrees <= len(QUANTILES) else NORMAL
    half = quantile * statistics.stdev(values) / math.sqrt(len(values))
    return Difference(mean, mean - half, mean + half)
