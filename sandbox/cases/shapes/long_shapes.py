"""Shapes drawn in secret that are long in one dim and little in all others, or as large as a benchmark.

Families of inputs are met on small shapes, so a shortcut on data that begins at some length would pass: each dim is
long once. And a path for large shapes is met by benchmarks alone, whose lengths are round or the author's: what it
leaves over shows on none of them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tasks.domain import admits
from tasks.held_out import SMALL, cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COST = 2.0**20  # operations plus bytes of a case with a long dim
NEARLY = 0.98  # of the length that is affordable, at least
LONGER = 2  # times the first test's length
LITTLE = 16  # steps that a dim lies above the least listed length where its length is not meant, at least half of them
TRIES = 4
LARGE, FEWEST = 4, 1  # cases as large as a benchmark, and those of which no part can be executed alone
LARGE_COST = 4.0  # times the cheapest benchmark's operations plus bytes
TIMES = 2.0  # so much shorter or longer than a benchmark's a length is at most
ROUND, POWERS = 1 / 2, 10  # of its lengths are odd multiples of a power of two of steps, up to this one
DRAWS = 32

Dims = Mapping[str, int]
Rng = np.random.Generator


def long_cases(task: Task, rng: Rng) -> tuple[Case, ...]:
    """Draw for each dim a case in which it is nearly as long as listed, or as is affordable."""
    first = task.tests[0].dims
    cases = ((name, _case_with_long(task, name, rng)) for name in first)
    return tuple(case for name, case in cases if case and case.dims[name] > LONGER * first[name])


def large_cases(task: Task, rng: Rng, *, has_parts: bool) -> tuple[Case, ...]:
    """Draw cases about as large as a benchmark, each dim of any length from half to twice its own.

    Fewer and small ones where no part of one can be executed alone.
    """
    limit = LARGE_COST * min(cost(task, case.dims) for case in task.benchmarks)
    limit = limit if has_parts else max(SMALL, min(cost(task, case.dims) for case in task.tests))
    cases = dict[str, Case]()
    for _ in range(DRAWS):
        base = task.benchmarks[int(rng.integers(len(task.benchmarks)))].dims
        case = _new_case(
            task, {name: _length_like(task, name, length, rng) for name, length in base.items()}, limit, rng
        )
        if case and len(cases) < (LARGE if has_parts else FEWEST):
            cases[case.name] = case
    return tuple(cases.values())


def _length_like(task: Task, name: str, length: int, rng: Rng) -> int:
    """Draw a length like this within the dim's range."""
    low, high, step = *_ends(task, name), task.multiples.get(name, 1)
    drawn = math.exp(rng.uniform(math.log(max(low, length / TIMES)), math.log(min(high, length * TIMES) + 1)))
    unit = step << int(rng.integers(POWERS + 1)) if rng.random() < ROUND else step
    for granule in (unit, step):
        rounded = granule * ((int(drawn) // granule - 1) | 1)
        if low <= rounded <= high:
            return rounded
    return length


def _case_with_long(task: Task, name: str, rng: Rng) -> Case | None:
    """Draw a new case in which this dim is long, odd where it can be; None where none is found."""
    (low, high), step = _ends(task, name), task.multiples.get(name, 1)
    counts = range(-(-low // step), high // step + 1)
    for dims in _short_dims(task, rng) if low < high else ():

        def spent(count: int, dims: Dims = dims) -> float:
            return cost(task, {**dims, name: count * step})

        fitting = counts[: bisect_right(counts, COST, key=spent)]
        for _ in range(TRIES if fitting else 0):
            count = int(rng.integers(max(fitting[0], math.ceil(NEARLY * fitting[-1])), fitting[-1] + 1))
            length = step * (count - 1 if count % 2 == 0 and count > fitting[0] else count)
            if case := _new_case(task, {**dims, name: length}, COST, rng):
                return case
    return None


def _short_dims(task: Task, rng: Rng) -> Iterator[Dims]:
    """Yield dims a little above the least listed ones, and those, where the former are too much."""
    ends = {name: (*_ends(task, name), task.multiples.get(name, 1)) for name in task.tests[0].dims}
    for least in (*[LITTLE // 2] * TRIES, 0):
        steps = {name: int(rng.integers(least, LITTLE)) if least else 0 for name in ends}
        yield {name: min(high, low + step * steps[name]) for name, (low, high, step) in ends.items()}


def _new_case(task: Task, dims: Dims, limit: float, rng: Rng) -> Case | None:
    """Make a case of these dims; None for a listed one, and for what costs more or is no shape of the task."""
    name = case_name(dims)
    is_known = name in {case.name for case in (*task.tests, *task.benchmarks)}
    if is_known or cost(task, dims) > limit or not admits(task, dims):
        return None
    seed = int(rng.integers(2**32))
    return replace(task.tests[0], name=name, dims=dict(dims), seed=seed, weight=1.0, role="held_out")


def _ends(task: Task, name: str) -> tuple[int, int]:
    lengths = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    return min(lengths), max(lengths)
