"""The lengths of one dim in the order in which a sweep takes them: secret, without repeats, whatever a sweep affords.

Short lengths cost little and most of what a kernel decides by a length it decides for them as well, so they come
soonest: of two lengths the shorter one is the likelier to come first, down to `FLAT`, below which all are alike. What a
draw could leave out by chance comes before all others: both ends of the range, and then in turns the numbers that a
file holds, and lengths between any two listed ones and of every remainder by small numbers and by powers of two up to a
wave.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest

import numpy as np
import numpy.typing as npt

FLAT = 512  # steps below which no length is likelier than another
CHEAP = 2.0**14  # operations plus bytes of a case that costs little more than its launch
MOST = 1 << 16  # lengths of a dim from which a sweep chooses: all, or those below half as many and others drawn
KEPT = 1 << 13  # of them in order: more than any sweep takes
DIVISORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 24, 32, 64)
MOST_MARKED = 48  # lengths that a file's numbers are or lie beside
KNOTS = 48  # lengths at which the cost is computed; between them it is a straight line

Lengths = npt.NDArray[np.int64]
Cost = Callable[[int], float]


def swept_lengths(
    listed: Sequence[int], step: int, cost: Cost, limit: float, marked: Iterable[int], rng: np.random.Generator
) -> list[int]:
    """List multiples of `step` from the least listed length to the longest that costs no more than the limit.

    `cost` grows with the length; `marked` are numbers of whose neighbourhood each dim's range gets its part. Empty
    where only one length is listed or none is affordable.
    """
    low, high = -(-min(listed) // step), max(listed) // step
    if low >= high:
        return []
    high = low + bisect_right(range(low, high + 1), limit, key=lambda count: cost(count * step)) - 1
    if high < low:
        return []
    counts = _counts(low, high, rng)
    knots = np.unique(np.round(np.geomspace(max(1, low), high, KNOTS)).astype(np.int64).clip(low, high))
    spent = np.interp(counts, knots, [cost(int(count) * step) for count in knots])
    weight = np.minimum(1.0, CHEAP / np.maximum(spent, 1.0)) / np.maximum(counts, FLAT)
    drawn = counts[np.argsort(rng.exponential(size=counts.size) / weight)][:KEPT]
    telling = zip_longest(
        _steps_beside(marked, step, low, high, rng), drawn[_first_of_each_kind(drawn * step, listed)].tolist()
    )
    order = chain((low, high, low + 1, high - 1), chain.from_iterable(telling), drawn.tolist())
    return [int(count) * step for count in dict.fromkeys(order) if count is not None and low <= count <= high]


def _counts(low: int, high: int, rng: np.random.Generator) -> Lengths:
    """List the steps of a range, or of a wide one its first and others of which no octave is likelier than another."""
    if high - low < MOST:
        return np.arange(low, high + 1)
    dense = low + MOST // 2
    wide = np.exp(rng.uniform(np.log(dense), np.log(high), MOST // 2)).astype(np.int64)
    return np.unique(np.concatenate([np.arange(low, dense), wide.clip(low, high)]))


def _steps_beside(marked: Iterable[int], step: int, low: int, high: int, rng: np.random.Generator) -> list[int]:
    """List the steps at and on both sides of these numbers, as far as they lie in the range; of many some, drawn."""
    near = {count for number in marked for count in range(number // step - 1, number // step + 2)}
    inside = sorted(count for count in near if low <= count <= high)
    return [inside[int(index)] for index in rng.permutation(len(inside))[:MOST_MARKED]]


def _first_of_each_kind(lengths: Lengths, listed: Sequence[int]) -> npt.NDArray[np.int64]:
    """Find the places of those lengths that are the first with some remainder, or the first between two listed ones."""
    kinds = [lengths % divisor for divisor in DIVISORS]
    kinds.append(np.searchsorted(np.unique(listed), lengths))
    return np.unique(np.concatenate([np.unique(kind, return_index=True)[1] for kind in kinds]))
