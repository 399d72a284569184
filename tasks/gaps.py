"""Shapes drawn in secret between listed lengths: each dim lies once between any two neighbours that are listed.

A kernel may be wrong in a range of lengths that no case lists and no shape beside a listed one reaches. Half a gap that
is wrong is met every second time, so the cases are small and many.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tasks.domain import admits
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COST = 2.0**21  # operations plus bytes of a case, or as much as the cheapest test where that is more
MOST = 8  # cases; the largest gaps come first
TRIES = 4  # lengths that are drawn from a gap until one is affordable
WIDE = 1.25  # times the shorter length the longer one of a gap is at least
LITTLE = 16  # steps that a dim lies above the least listed length where its gaps are not meant, at least half of them

Gap = tuple[int, int]
Dims = dict[str, int]


def gap_cases(task: Task, rng: np.random.Generator) -> tuple[Case, ...]:
    """Up to `MOST` unlisted cases whose dims lie between neighbouring listed lengths, each gap in one case at most.

    Dims keep the task's multiples, its range and its conditions. Where all dims in gaps are too much for one case, some
    are small; a gap that is too long even so is left to the benchmarks.
    """
    limit = max(COST, min(cost(task, case.dims) for case in task.tests))
    open_gaps = {name: _gaps(task, name) for name in task.tests[0].dims}
    known = {case.name for case in (*task.tests, *task.benchmarks)}
    found = list[Case]()
    while len(found) < MOST and any(open_gaps.values()):
        first = max(open_gaps, key=lambda name: len(open_gaps[name]))
        gap, least = open_gaps[first].pop(0), {name: _least(task, name) for name in open_gaps}
        for _ in range(TRIES):
            long = {first: _between(task, first, gap, rng)}
            dims = {**{name: little(task, name, rng) for name in open_gaps}, **long}
            dims = dims if cost(task, dims) <= limit else {**least, **long}
            if cost(task, dims) <= limit:
                break
        for other in (name for name in dims if name != first and cost(task, dims) <= limit):
            for gap in reversed(open_gaps[other]):
                wider = {**dims, other: _between(task, other, gap, rng)}
                if cost(task, wider) <= limit:
                    open_gaps[other].remove(gap)
                    dims = wider
                    break
        name = case_name(dims)
        if cost(task, dims) <= limit and name not in known and admits(task, dims):
            known.add(name)
            seed = int(rng.integers(2**32))
            found.append(replace(task.tests[0], name=name, dims=dims, seed=seed, weight=1.0, role="held_out"))
    return tuple(found)


def _gaps(task: Task, name: str) -> list[Gap]:
    """Neighbouring listed lengths with others between them, the widest by its ratio first."""
    lengths = sorted({case.dims[name] for case in (*task.tests, *task.benchmarks)})
    least = 2 * task.multiples.get(name, 1)
    wide = (gap for gap in pairwise(lengths) if gap[1] - gap[0] > least and gap[1] > WIDE * gap[0])
    return sorted(wide, key=lambda gap: gap[0] / gap[1])


def _between(task: Task, name: str, gap: Gap, rng: np.random.Generator) -> int:
    """A length inside a gap; none of its octaves is likelier than another."""
    step = task.multiples.get(name, 1)
    low, high = gap[0] // step + 1, (gap[1] - 1) // step
    return step * int(np.clip(round(math.exp(rng.uniform(math.log(low), math.log(high)))), low, high))


def little(task: Task, name: str, rng: np.random.Generator) -> int:
    """A length of a dim that is not meant: a little above its least listed one."""
    lengths = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    step = task.multiples.get(name, 1)
    return min(max(lengths), min(lengths) + step * int(rng.integers(LITTLE // 2, LITTLE)))


def _least(task: Task, name: str) -> int:
    return min(case.dims[name] for case in (*task.tests, *task.benchmarks))
