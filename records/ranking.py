"""The faster of two kernels by their records, for the graph's decision and for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from records.evaluation import CaseComparison, Contrast, Evaluation

LEAST_GAIN = 0.001  # of the speed: a predicted time has no noise, but below this it has no meaning either
FAR_APART = 1.05  # between two measured intervals, from where on their levels decide: clocks may differ by less


def by_level(new: Evaluation, old: Evaluation) -> bool | None:
    """True where the new time is below the old one; None where measured levels are too close to decide.

    Times of two kinds are never compared, and a predicted time has no noise: there `LEAST_GAIN` decides.
    """
    if new.time_kind != old.time_kind or new.geomean_us is None or old.geomean_us is None:
        return False
    if new.time_kind == "predicted":
        return is_least_gain(new.geomean_us, old.geomean_us)
    return by_interval(interval_of(new), interval_of(old))


def is_least_gain(new_us: float, old_us: float) -> bool:
    """True where a predicted time is shorter by at least the least gain."""
    return old_us >= new_us * (1 + LEAST_GAIN)


def by_interval(new: tuple[float, float], old: tuple[float, float]) -> bool | None:
    """The same for two measured intervals."""
    if new[1] * FAR_APART < old[0]:
        return True
    return False if old[1] * FAR_APART < new[0] else None


def interval_of(evaluation: Evaluation) -> tuple[float, float]:
    """Geometric means of both ends of the confidence intervals."""
    return mean_of(evaluation, "ci_low_us"), mean_of(evaluation, "ci_high_us")


def mean_of(evaluation: Evaluation, name: str) -> float:
    """Weighted geometric mean of one figure of the measurements; 0 where one of them is not positive."""
    values = [(getattr(m, name), m.weight) for m in evaluation.measurements]
    if any(value <= 0 for value, _ in values):
        return 0.0
    return math.exp(sum(w * math.log(v) for v, w in values) / sum(w for _, w in values))


def contrast_of(
    weights: Mapping[str, float], cases: Sequence[CaseComparison], delta: float
) -> tuple[Contrast, float, float, float]:
    """Verdict, ratio and interval over all cases: the weighted geometric means of ratios and of both ends.

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
