"""Shapes drawn in secret in which one dim is long, two are equal, or one is next to its least; the others are little.

Families of inputs are met on small shapes, so a shortcut on data that begins at some length would pass: each dim is
long once. What is wrong where two dims are equal shows on no shape of which all differ. And kernels that read several
elements at once, or turn an index over at a row's end once, are wrong on rows of two or three, and right on one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import ceil, lcm

import numpy as np

from tasks.domain import admits
from tasks.gaps import COST as NARROW_COST
from tasks.gaps import little
from tasks.held_out import SMALL, cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COST = 2.0**20  # operations plus bytes of a case with a long dim
NEARLY = 0.98  # of the length that is affordable, at least
LONGER = 2  # times the first test's length
TRIES = 4

Names = tuple[str, ...]


def long_cases(task: Task, rng: np.random.Generator) -> tuple[Case, ...]:
    """For each dim a case in which it is nearly as long as listed, or as is affordable."""
    first = task.tests[0].dims
    cases = ((name, _stretched(task, (name,), COST, rng)) for name in first)
    return tuple(case for name, case in cases if case and case.dims[name] > LONGER * first[name])


def equal_cases(task: Task, rng: np.random.Generator) -> tuple[Case, ...]:
    """For each pair of dims a case in which both are equal, as long as is affordable; all share one amount."""
    pairs = [pair for pair in combinations(task.tests[0].dims, 2) if any(_counts(task, pair))]
    cases = (_stretched(task, pair, SMALL / len(pairs), rng) for pair in pairs)
    return tuple({case.name: case for case in cases if case}.values())


def narrow_cases(task: Task, rng: np.random.Generator) -> tuple[Case, ...]:
    """For each dim a case in which it is one step above the least listed length, and one with all of them two above."""
    lengths = {name: [case.dims[name] for case in (*task.tests, *task.benchmarks)] for name in task.tests[0].dims}
    steps = {name: task.multiples.get(name, 1) for name in lengths}
    free = [name for name in lengths if max(lengths[name]) - min(lengths[name]) >= 2 * steps[name]]
    limit = max(NARROW_COST, min(cost(task, case.dims) for case in task.tests))
    known = {case.name for case in (*task.tests, *task.benchmarks)}
    found = dict[str, Case]()
    for count, names in [*((1, [name]) for name in free), (2, free)]:
        short = {name: (min(lengths[name]) // steps[name] + count) * steps[name] for name in names}
        for _ in range(TRIES):
            dims = {name: short.get(name) or little(task, name, rng) for name in lengths}
            name = case_name(dims)
            if name not in known and cost(task, dims) <= limit and admits(task, dims):
                seed = int(rng.integers(2**32))
                found[name] = replace(task.tests[0], name=name, dims=dims, seed=seed, weight=1.0, role="held_out")
                break
    return tuple(found.values())


def _stretched(task: Task, names: Names, limit: float, rng: np.random.Generator) -> Case | None:
    """A new case in which these dims have one length, odd where it can be; None where none is found."""
    counts, step = _counts(task, names), _step(task, names)
    known = {case.name for case in (*task.tests, *task.benchmarks)}
    for dims in _others(task, rng):
        fitting = counts[: bisect_right(counts, limit, key=lambda n: cost(task, {**dims, **_same(names, n * step)}))]
        for _ in range(TRIES if fitting else 0):
            count = int(rng.integers(max(fitting[0], ceil(NEARLY * fitting[-1])), fitting[-1] + 1))
            length = step * (count - 1 if count % 2 == 0 and count > fitting[0] else count)
            made = {**dims, **_same(names, length)}
            name = case_name(made)
            if name not in known and admits(task, made):
                seed = int(rng.integers(2**32))
                return replace(task.tests[0], name=name, dims=made, seed=seed, weight=1.0, role="held_out")
    return None


def _others(task: Task, rng: np.random.Generator) -> Iterator[dict[str, int]]:
    """Dims a little above the least listed ones, and those, where the former are too much."""
    for _ in range(TRIES):
        yield {name: little(task, name, rng) for name in task.tests[0].dims}
    yield {name: min(_listed(task, name)) for name in task.tests[0].dims}


def _counts(task: Task, names: Names) -> range:
    """The steps of a length that lies within the listed ranges of all these dims; none where one length is all."""
    step, lengths = _step(task, names), [_listed(task, name) for name in names]
    least, most = max(min(each) for each in lengths), min(max(each) for each in lengths)
    return range(ceil(least / step), most // step + 1) if any(min(each) < max(each) for each in lengths) else range(0)


def _same(names: Names, length: int) -> dict[str, int]:
    return dict.fromkeys(names, length)


def _step(task: Task, names: Names) -> int:
    return lcm(*(task.multiples.get(name, 1) for name in names))


def _listed(task: Task, name: str) -> set[int]:
    return {case.dims[name] for case in (*task.tests, *task.benchmarks)}
