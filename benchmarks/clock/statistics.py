"""The worth of a set of predicted times beside measured ones: how far off, in which order, and what a choice costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median


@dataclass(frozen=True)
class Agreement:
    """Predicted beside measured times of kernels that do the same work."""

    count: int
    ratio: float  # median of predicted over measured
    error: float  # median of the absolute relative error
    spearman: float  # rank correlation; NaN where one side has a single value
    regret: float  # measured time of the kernel predicted fastest over that of the fastest
    above: int  # bounds above the measured time, which none may be


def agreement(predicted: Sequence[float], measured: Sequence[float], bounds: Sequence[float]) -> Agreement:
    """Compute the statistics of pairs of positive times; ValueError where there are none or not as many of both."""
    if not predicted or len(predicted) != len(measured):
        raise ValueError("as many predicted as measured times are needed, and at least one")
    pairs = list(zip(predicted, measured, strict=True))
    return Agreement(
        len(pairs),
        median(p / m for p, m in pairs),
        median(abs(p - m) / m for p, m in pairs),
        spearman(predicted, measured),
        regret(predicted, measured),
        sum(b > m for b, m in zip(bounds, measured, strict=True)),
    )


def regret(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Divide the measured time of what is predicted fastest by the least measured time; of several such, their mean."""
    least = min(predicted)
    return fmean(m for p, m in zip(predicted, measured, strict=True) if p == least) / min(measured)


def spearman(first: Sequence[float], other: Sequence[float]) -> float:
    """Compute Spearman's rank correlation, equal values sharing their mean rank; NaN where one side is all equal."""
    a, b = ranks(first), ranks(other)
    middle = (len(a) + 1) / 2
    spread = math.sqrt(sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b))
    shared = sum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True))
    return shared / spread if spread else math.nan


def ranks(values: Sequence[float]) -> list[float]:
    """Rank from 1 on; equal values have the mean of their places."""
    order = sorted(values)
    positions: dict[float, list[int]] = {}
    for position, value in enumerate(order, start=1):
        positions.setdefault(value, []).append(position)
    return [fmean(positions[value]) for value in values]
