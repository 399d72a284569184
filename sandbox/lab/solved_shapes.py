"""Shapes on which a comparison comes out otherwise: solved for what was seen on its two sides.

A comparison that had one outcome on thousands of shapes may ask for one length of all. Where the difference of its
sides grows evenly with a dim, or with the product of two, the length at which it is nothing follows from a few samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product, zip_longest
from math import prod

import numpy as np
import numpy.typing as npt

Dims = Mapping[str, int]
Sample = tuple[Dims, int, int]  # a shape, left side, right side
Ranges = Mapping[str, tuple[int, int, int]]  # of each dim: least, greatest, step
Terms = tuple[tuple[str, ...], ...]  # products of dims

COMPARISONS = 48  # that are solved
MOST_ERROR = 1.5  # of the fit: what divisions round off
BESIDE = (0, -1, 1)  # steps from the solution


def solved_dims(
    compared: Sequence[Sequence[Sample]], ranges: Ranges, rng: np.random.Generator
) -> Iterator[dict[str, int]]:
    """Yield dims at and beside the places where the two sides of comparisons are equal, a place of each in turn."""
    chosen = rng.permutation(len(compared))[:COMPARISONS]
    for turn in zip_longest(*(_solved(compared[index], ranges) for index in chosen)):
        yield from (dims for dims in turn if dims is not None)


def _solved(samples: Sequence[Sample], ranges: Ranges) -> Iterator[dict[str, int]]:
    dims = [shape for shape, _, _ in samples]
    differences = np.array([float(left - right) for _, left, right in samples])
    if (fit := _fit(dims, differences, tuple(ranges))) is None:
        return
    for base, name in product(({n: low for n, (low, _, _) in ranges.items()}, dims[0], dims[-1]), ranges):
        yield from _solutions(base, name, *fit, ranges)


def _fit(
    dims: Sequence[Dims], differences: npt.NDArray[np.float64], names: tuple[str, ...]
) -> tuple[Terms, npt.NDArray[np.float64]] | None:
    """Fit the simplest sum of terms, the last one constant, that gives all differences; None where none does."""
    alone = tuple((name,) for name in names)
    choices = [*((single,) for single in alone), *((pair,) for pair in combinations(names, 2)), alone]
    if not np.ptp(differences):
        return None
    for terms in choices:
        rows = np.array([[float(prod(shape[name] for name in term)) for term in (*terms, ())] for shape in dims])
        if len(rows) < rows.shape[1] + 2:
            continue
        weights = np.linalg.lstsq(rows, differences, rcond=None)[0]
        if np.abs(rows @ weights - differences).max() <= MOST_ERROR:
            return terms, weights
    return None


def _solutions(
    base: Dims, name: str, terms: Terms, weights: npt.NDArray[np.float64], ranges: Ranges
) -> Iterator[dict[str, int]]:
    """Yield the base with this dim at and beside the length at which the sum is nothing."""
    least, greatest, step = ranges[name]
    factors = [prod(base[factor] for factor in term if factor != name) for term in (*terms, ())]
    slope = sum(w * o for w, o, term in zip(weights, factors, (*terms, ()), strict=True) if name in term)
    constant = sum(w * o for w, o, term in zip(weights, factors, (*terms, ()), strict=True) if name not in term)
    if abs(slope) < 1e-9 or not least - 1 <= (length := -constant / slope) <= greatest + 1:
        return
    for steps in BESIDE:
        solved = (round(length / step) + steps) * step
        if least <= solved <= greatest:
            yield {**base, name: solved}
