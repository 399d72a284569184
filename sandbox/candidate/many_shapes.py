"""Thousands of shapes of a task, of which no input is ever drawn: for what a plan or a program decides by its dims."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sandbox.candidate.written_lengths import LITTLE, little_length
from tasks.distinct import distinct
from tasks.task import Task

SPREAD = 1024  # lengths of each dim beside little ones of the others, drawn evenly, and as many by their logarithm
DRAWN = 1024  # shapes whose dims are all drawn
RELATED = 512  # shapes of each two dims of which one is a small multiple of the other, or nearly
OF_TWO = 512  # shapes of each two dims, drawn by their logarithm, the others at their least
MULTIPLES = 8  # how many times it is at most
STEPS = 512  # of the lengths that follow one another from the least

Columns = Mapping[str, npt.NDArray[np.int64]]


def shapes(task: Task, rng: np.random.Generator) -> Columns:
    """Dims of the task, a row each: every length of one beside little ones of the others, multiples, and all drawn."""
    names = list(task.tests[0].dims)
    rows = list[npt.NDArray[np.int64]]()
    for at, name in enumerate(names):
        swept = _lengths(task, name, rng)
        others = [[little_length(task, other, n) for n in (0, *rng.integers(LITTLE, size=7))] for other in names]
        own = np.array([rng.choice(each, len(swept)) for each in others], np.int64).T
        own[:, at] = swept
        rows.append(own)
    rows.append(np.array([rng.choice(_lengths(task, name, rng), DRAWN) for name in names], np.int64).T)
    rows += [_related(task, one, other, rng) for one in names for other in names if one != other]
    rows += [_of_two(task, pair, rng) for pair in combinations(names, 2)]
    every = distinct(np.concatenate(rows), axis=0)
    return {name: every[:, at] for at, name in enumerate(names)}


def _related(task: Task, longer: str, shorter: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Rows of which one dim is another's multiple, or a step beside it; the others are little."""
    names, ranges = list(task.tests[0].dims), {name: _range(task, name) for name in task.tests[0].dims}
    own = np.array([[little_length(task, name, n) for n in rng.integers(LITTLE, size=RELATED)] for name in names]).T
    (low, high, unit), (least, most, step) = ranges[shorter], ranges[longer]
    times = rng.integers(1, MULTIPLES + 1, RELATED)
    top = np.maximum(low, np.minimum(high, most // times))
    short = np.exp(rng.uniform(np.log(low), np.log(top + 1))).astype(np.int64) // unit * unit
    long = (short * times + step * rng.choice([0, 0, -1, 1], RELATED)) // step * step
    own[:, names.index(shorter)], own[:, names.index(longer)] = short, long
    return np.array(own[(short >= low) & (short <= high) & (long >= least) & (long <= most)], np.int64)


def _of_two(task: Task, pair: tuple[str, str], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Rows of which two dims have any lengths: a way may be open where both are long, if only little else is to do."""
    ranges = {name: _range(task, name) for name in task.tests[0].dims}
    free = {
        name: np.exp(rng.uniform(np.log(low), np.log(high + 1), OF_TWO)).astype(np.int64) // step * step
        for name, (low, high, step) in ranges.items()
        if name in pair
    }
    columns = [np.maximum(low, free.get(name, np.full(OF_TWO, low))) for name, (low, _, _) in ranges.items()]
    return np.array(columns, np.int64).T


def _range(task: Task, name: str) -> tuple[int, int, int]:
    """The least and the greatest listed length of a dim, and its step."""
    listed = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    return min(listed), max(listed), task.multiples.get(name, 1)


def _lengths(task: Task, name: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Lengths of a dim from the least to the greatest that is listed, dense where they are small."""
    low, high, step = _range(task, name)
    first = np.arange(low, min(high, low + STEPS * step) + 1, step)
    evenly = [rng.uniform(low, high, SPREAD), np.exp(rng.uniform(np.log(low), np.log(high), SPREAD))]
    drawn = np.concatenate(evenly).astype(np.int64) // step * step
    return distinct(np.concatenate([first, drawn[(drawn >= low) & (drawn <= high)]]))
