"""Confidence intervals from few and ugly samples: no normal distribution is assumed where it matters.

Sources: Mann and Whitney 1947 and Hodges and Lehmann 1963 (rank sums), Hill 1970 (Student's quantiles, CACM algorithm
396).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
_EXACT = 60  # values up to which the distribution of the rank sum is counted out


@dataclass(frozen=True)
class Interval:
    """An estimate and the interval around it; infinite where the samples are too few for the confidence asked for."""

    estimate: float
    low: float
    high: float


def rank_sum(sample: Values, other: Values, alpha: float) -> Interval:
    """Estimate by how much `sample` lies above `other`: the median of all differences, and the interval of rank sums.

    Its error rate needs nothing but that chance decided which value went to which group: it holds for any noise, drift
    and outliers. The least possible `alpha` is two over the number of ways to split the values.
    """
    if not len(sample) or not len(other):
        return Interval(0.0, -math.inf, math.inf)
    differences = np.sort(np.subtract.outer(sample, other).ravel())
    cut = _tail(len(sample), len(other), alpha / 2)
    if cut == 0:
        return Interval(float(np.median(differences)), -math.inf, math.inf)
    return Interval(float(np.median(differences)), float(differences[cut - 1]), float(differences[-cut]))


@lru_cache(4096)
def _tail(first: int, second: int, alpha: float) -> int:
    """Count the lowest values of Mann and Whitney's U that have a probability of at most `alpha` together."""
    count = first + second
    if count > _EXACT:
        centre, deviation = first * second / 2, math.sqrt(first * second * (count + 1) / 12)
        return max(0, math.floor(centre + NormalDist().inv_cdf(alpha) * deviation))
    least = first * (first + 1) // 2
    split_counts = np.zeros((first + 1, least + first * second + 1))  # of choosing so many ranks with this sum
    split_counts[0, 0] = 1.0
    for rank in range(1, count + 1):
        split_counts[1:, rank:] += split_counts[:-1, :-rank].copy()
    chances = np.cumsum(split_counts[first, least:])
    return int(np.searchsorted(chances / chances[-1], alpha * (1 + 1e-9), side="right"))


def student(values: Values, alpha: float) -> Interval:
    """Compute the mean with Student's interval: for a handful of values that lie clearly on one side."""
    count = len(values)
    if count < 2:
        return Interval(0.0 if count == 0 else float(values[0]), -math.inf, math.inf)
    mean = float(np.mean(values))
    half = student_quantile(alpha / 2, count - 1) * float(np.std(values, ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - half, mean + half)


def student_quantile(tail: float, freedom: int) -> float:
    """Compute the value that Student's t exceeds with probability `tail` (below a half), to about six digits."""
    two_tails = 2 * tail
    if freedom == 1:
        return 1 / math.tan(two_tails * math.pi / 2)
    if freedom == 2:
        return math.sqrt(2 / (two_tails * (2 - two_tails)) - 2)
    n = float(freedom)
    a = 1 / (n - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = float((d * two_tails) ** (2 / n))
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(two_tails / 2)
        y = x * x
        c += 0.3 * (n - 4.5) * (x + 0.6) if freedom < 5 else 0.0
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y * y)
    else:
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (n + 1) / (
            n + 2
        ) + 1 / y
    return math.sqrt(n * y)


def median_interval(values: Values, alpha: float) -> Interval:
    """Enclose the median by order statistics: the true one is inside with probability 1 - alpha, whatever the noise."""
    ordered, count = np.sort(values), len(values)
    cut = _binomial_tail(count, alpha / 2)
    if cut == 0:
        return Interval(float(np.median(ordered)), -math.inf, math.inf)
    return Interval(float(np.median(ordered)), float(ordered[cut - 1]), float(ordered[-cut]))


@lru_cache(4096)
def _binomial_tail(count: int, alpha: float) -> int:
    """Find the largest k for which fewer than k heads of `count` fair coins have a probability of at most `alpha`."""
    total, k = 0.0, 0
    while k <= count:
        total += math.exp(
            math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) - count * math.log(2)
        )
        if total > alpha:
            return k
        k += 1
    return 0
