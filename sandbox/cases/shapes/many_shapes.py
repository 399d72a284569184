"""Thousands of shapes of a task, of which no input is ever drawn: for what a plan or a program decides by its dims."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tasks.distinct import distinct
from tasks.task import Task

COUNT = 4096  # shapes that are drawn, equal ones among them
LITTLE = 24  # steps above its least length below which a dim is little, no octave of the steps likelier than another
SHORT = 512  # steps above it below which some of the long lengths lie, drawn evenly
KINDS = (1 / 3, 1 / 2, 1 / 6)  # of the long lengths are short ones, drawn by their logarithm, and drawn evenly
RELATED = 3 / 4  # of the shapes with two long dims have one that is a small multiple of the other, or nearly
MULTIPLES = 8  # how many times it is at most
ROUND, POWERS = 1 / 2, 12  # of the shapes have multiples of powers of two of steps in all long dims, up to this one

Columns = Mapping[str, npt.NDArray[np.int64]]
Numbers = npt.NDArray[np.int64]


def shapes(task: Task, rng: np.random.Generator) -> Columns:
    """Dims of the task within their listed ranges, a row each: any number of them long, all others little."""
    names = list(task.tests[0].dims)
    step = np.array([task.multiples.get(name, 1) for name in names])
    listed = [[case.dims[name] for case in (*task.tests, *task.benchmarks)] for name in names]
    low, high = (np.array([of(lengths) for lengths in listed]) for of in (min, max))
    size = COUNT, len(names)
    likely = 1 / np.arange(1, len(names) + 1)  # few long dims are, as what several long ones do takes long
    is_long = np.argsort(rng.random(size), axis=1) < rng.choice(len(names), (COUNT, 1), p=likely / likely.sum()) + 1
    little = low + step * (LITTLE ** rng.random(size)).astype(np.int64) - step
    drawn = np.where(is_long, _long_lengths(low, high, step, size, rng), np.minimum(little, high))
    _relate(drawn, is_long, step, rng)
    drawn = drawn // step * step
    within = drawn[((drawn >= low) & (drawn <= high)).all(axis=1)]
    unique = distinct(within, axis=0)
    return {name: unique[:, column] for column, name in enumerate(names)}


def _long_lengths(
    low: Numbers, high: Numbers, step: Numbers, size: tuple[int, int], rng: np.random.Generator
) -> Numbers:
    """Lengths drawn evenly, by their logarithm or from the short ones; a part of them round."""
    evenly, by_size = rng.uniform(low, high + 1, size), np.exp(rng.uniform(np.log(low), np.log(high + 1), size))
    short = low + step * rng.integers(SHORT + 1, size=size)
    kind = rng.choice(len(KINDS), size, p=KINDS)
    drawn = np.choose(kind, [np.minimum(short, high), by_size, evenly]).astype(np.int64)
    unit = np.where(rng.random((len(kind), 1)) < ROUND, step << rng.integers(POWERS + 1, size=size), step)
    rounded = drawn // unit * unit
    return np.where(rounded >= low, rounded, drawn)


def _relate(lengths: Numbers, is_long: npt.NDArray[np.bool_], step: Numbers, rng: np.random.Generator) -> None:
    """Make one long dim of some rows a multiple of another one, or a step beside it."""
    rows = np.flatnonzero((is_long.sum(axis=1) > 1) & (rng.random(len(lengths)) < RELATED))
    order = np.argsort(np.where(is_long[rows], rng.random((len(rows), len(step))), 2.0), axis=1)  # long ones first
    for row, (target, source) in zip(rows, order[:, :2], strict=True):
        times, beside = rng.integers(1, MULTIPLES + 1), rng.choice([0, 0, 0, 0, -1, 1])
        lengths[row, target] = lengths[row, source] * times + step[target] * beside
