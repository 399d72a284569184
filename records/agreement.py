"""Measured times beside predicted ones of the same kernels: their ratio, their order, and factors between them.

A predicted time is never ranked against a measured one; that the two agree is a statement on the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

FEWEST_RANKED = 3  # pairs, below which an order says nothing


@dataclass(frozen=True)
class Pair:
    """One kernel on one case, measured and predicted."""

    name: str  # of the kernel, for people
    case: str
    measured_us: float
    predicted_us: float
    resource: str = ""  # that binds the predicted time

    @property
    def ratio(self) -> float:
        """Measured over predicted: above 1 the prediction is too low."""
        return self.measured_us / self.predicted_us

    @property
    def error(self) -> float:
        """Relative error of the prediction, without its sign."""
        return abs(self.predicted_us / self.measured_us - 1)


@dataclass(frozen=True)
class Agreement:
    """Figures on how predictions agree with measurements."""

    count: int
    ratio: float  # median of measured over predicted
    error: float  # median relative error
    spearman: float | None  # rank correlation; None where fewer than three differ


@dataclass(frozen=True)
class Factor:
    """The factor for the predicted times that one resource binds."""

    resource: str
    factor: float
    count: int  # of the pairs it rests on


def agreement(pairs: Sequence[Pair]) -> Agreement | None:
    """Measure the agreement over all pairs; None of none."""
    if not pairs:
        return None
    ranks = spearman([p.measured_us for p in pairs], [p.predicted_us for p in pairs])
    return Agreement(len(pairs), median(p.ratio for p in pairs), median(p.error for p in pairs), ranks)


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Correlate the ranks, ties at their mean; None where either has fewer than two values or all are too few."""
    if len(xs) < FEWEST_RANKED or len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    left, right = _ranks(xs), _ranks(ys)
    middle = (len(xs) - 1) / 2
    product = sum((a - middle) * (b - middle) for a, b in zip(left, right, strict=True))
    squares = math.prod(sum((r - middle) ** 2 for r in ranks) for ranks in (left, right))
    return product / math.sqrt(squares)


def factors(pairs: Sequence[Pair]) -> tuple[Factor, ...]:
    """Fit for each binding resource the factor that makes the median of the absolute logarithmic errors least."""
    groups: dict[str, list[float]] = {}
    for pair in pairs:
        groups.setdefault(pair.resource, []).append(math.log(pair.ratio))
    return tuple(Factor(name, math.exp(_centre(logs)), len(logs)) for name, logs in sorted(groups.items()))


def scaled(pairs: Sequence[Pair], factor_of: Mapping[str, float]) -> list[Pair]:
    """Multiply the predictions of the pairs by the factors of their resources."""
    return [
        Pair(p.name, p.case, p.measured_us, p.predicted_us * factor_of.get(p.resource, 1.0), p.resource) for p in pairs
    ]


def _centre(values: Sequence[float]) -> float:
    """Find the middle of the shortest interval with more than half of the values: it has the least median distance.

    Rousseeuw 1984, least median of squares, for a location.
    """
    ordered, majority = sorted(values), len(values) // 2 + 1
    start = min(range(len(ordered) - majority + 1), key=lambda i: ordered[i + majority - 1] - ordered[i])
    return (ordered[start] + ordered[start + majority - 1]) / 2


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    first = {value: position for position, value in reversed(list(enumerate(ordered)))}
    last = {value: position for position, value in enumerate(ordered)}
    return [(first[value] + last[value]) / 2 for value in values]
