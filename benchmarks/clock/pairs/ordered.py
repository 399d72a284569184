"""Both predicted times of a pair and what they say of its order."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.clock.judged import PointLab
from benchmarks.clock.pairs.pair import CHOICES, Pair
from records.evaluation import Measurement
from records.ranking import is_within

CAUSES = 3  # of a time, the largest


@dataclass(frozen=True)
class Ordered:
    """A pair with the expected times of its kernels, or why there are none."""

    pair: Pair
    fast: Measurement | None = None
    slow: Measurement | None = None
    refusal: str = ""

    @property
    def ratio(self) -> float:
        """The slow kernel's expected time over the fast one's; 0 without times."""
        return self.slow.time_us / self.fast.time_us if self.fast and self.slow else 0.0

    @property
    def order(self) -> str:
        """Right, wrong, a tie within the clock's error, or refused."""
        if not self.fast or not self.slow:
            return "refused"
        if is_within(self.fast.time_us, self.slow.time_us, max(self.fast.error, self.slow.error)):
            return "tie"
        return "right" if self.ratio > 1 else "wrong"

    def cells(self) -> list[str]:
        """Write a row of the table."""
        if not self.fast or not self.slow:
            return [self.pair.name, "", "", "", "", f"refused: {self.refusal}", "", ""]
        times = [f"{kernel.time_us:.1f}" for kernel in (self.fast, self.slow)]
        ratios = [f"{self.ratio:.2f}", f"{self.pair.least:.2f}"]
        return [self.pair.name, *times, *ratios, self.order, bound_by(self.fast), bound_by(self.slow)]


def bound_by(measurement: Measurement) -> str:
    """Name the resource that binds a time, and the largest causes of waiting with their shares."""
    stalls = sorted(measurement.stalls_us.items(), key=lambda item: -item[1])[:CAUSES]
    shares = (f"{name} {100 * us / measurement.time_us:.0f} %" for name, us in stalls if us > 0)
    return f"{measurement.bound} ({', '.join(shares)})"


def ordered(lab: PointLab, pair: Pair) -> Ordered:
    """Predict both kernels of a pair."""
    fast, slow = (lab.predicted_of(pair.prepared(which)) for which in CHOICES)
    if isinstance(fast, str) or isinstance(slow, str):
        return Ordered(pair, refusal=" and ".join({answer for answer in (fast, slow) if isinstance(answer, str)}))
    return Ordered(pair, fast, slow)
