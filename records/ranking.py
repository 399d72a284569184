"""The faster of two kernels by their records, for the graph's decision and for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from records.evaluation import CaseComparison, Contrast, Evaluation

LEAST_GAIN = 0.001  # of the speed: below this a difference of predicted times has no meaning, however small their error
FAR_APART = 1.05  # between two measured intervals, from where on their levels decide: clocks may differ by less


class Timed(Protocol):
    """A kernel with a time, whatever record holds it."""

    @property
    def geomean_us(self) -> float | None:
        """Weighted geometric mean over the benchmark cases."""

    @property
    def time_kind(self) -> str | None:
        """Measured or predicted."""

    @property
    def time_error(self) -> float:
        """Relative standard error of a ratio of predicted times; 0 where the time was measured, or it is not known."""


def by_level(new: Evaluation, old: Evaluation) -> bool | None:
    """Tell whether the new time is below the old one; None where measured levels are too close to decide.

    Times of two kinds are never compared. A predicted time has no noise: there `is_shorter` decides.
    """
    if new.time_kind != old.time_kind or new.geomean_us is None or old.geomean_us is None:
        return False
    if new.time_kind == "predicted":
        return is_shorter(new, old)
    return by_interval(interval_of(new), interval_of(old))


def is_shorter(new: Timed, old: Timed) -> bool:
    """Tell whether a predicted time is shorter by the least gain, and by more than the clock's error."""
    if not new.geomean_us or not old.geomean_us or new.time_kind != old.time_kind:
        return False
    return old.geomean_us >= new.geomean_us * (1 + LEAST_GAIN) and not ties(new, old)


def ties(left: Timed, right: Timed) -> bool:
    """Tell whether two predicted times are within the clock's error of each other; never where that is unknown.

    The error is that of a ratio already: kernels of one task share most of what the model has wrong.
    """
    if left.time_kind != "predicted" or right.time_kind != "predicted":
        return False
    return is_within(left.geomean_us, right.geomean_us, ratio_error(left, right))


def is_within(one_us: float | None, other_us: float | None, error: float) -> bool:
    """Tell whether the longer of two times is longer by no more than this relative error."""
    if not one_us or not other_us or error <= 0:
        return False
    return max(one_us, other_us) <= min(one_us, other_us) * (1 + error)


def ratio_error(left: Timed, right: Timed) -> float:
    """Return the relative error of the ratio of two predicted times: the larger one where their records differ."""
    return max(left.time_error, right.time_error)


def is_slight(gain_pct: float, error: float) -> bool:
    """Tell whether a gain or a loss, in percent of the speed, is within this relative error of nothing."""
    return is_within(1.0, 1.0 + gain_pct / 100, error)


def tie_text(error: float) -> str:
    """Write a tie in words."""
    return f"equal within the clock's error of {100 * error:.2g} %"


def by_interval(new: tuple[float, float], old: tuple[float, float]) -> bool | None:
    """Tell the same of two measured intervals."""
    if new[1] * FAR_APART < old[0]:
        return True
    return False if old[1] * FAR_APART < new[0] else None


def interval_of(evaluation: Evaluation) -> tuple[float, float]:
    """Compute the geometric means of both ends of the confidence intervals."""
    return mean_of(evaluation, "ci_low_us"), mean_of(evaluation, "ci_high_us")


def mean_of(evaluation: Evaluation, name: str) -> float:
    """Compute the weighted geometric mean of one of the measurements' figures; 0 where one is not positive."""
    values = [(getattr(m, name), m.weight) for m in evaluation.measurements]
    if any(value <= 0 for value, _ in values):
        return 0.0
    return math.exp(sum(w * math.log(v) for v, w in values) / sum(w for _, w in values))


def contrast_of(
    weights: Mapping[str, float], cases: Sequence[CaseComparison], delta: float
) -> tuple[Contrast, float, float, float]:
    """Give verdict, ratio and interval over all cases: the weighted geometric means of ratios and of both ends.

    The ends hold together with more confidence than each alone, so the interval is a cautious one.
    """
    total = sum(weights[c.case] for c in cases)
    ratio, low, high = (
        math.exp(sum(weights[c.case] * math.log(getattr(c, name)) for c in cases) / total)
        for name in ("ratio", "low", "high")
    )
    if max(high - 1, 1 - low) <= delta:
        return "same", ratio, low, high
    if high < 1:
        return "faster", ratio, low, high
    return ("slower" if low > 1 else "undecided"), ratio, low, high
