"""Thousands of shapes of a task, of which no input is ever drawn: for what a plan or a program decides by its dims."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sandbox.candidate.written_lengths import LITTLE, little_length
from tasks.task import Task

SPREAD = 1024  # lengths of each dim beside little ones of the others, drawn evenly, and as many by their logarithm
DRAWN = 1024  # shapes whose dims are all drawn
STEPS = 512  # of the lengths that follow one another from the least

Columns = Mapping[str, npt.NDArray[np.int64]]


def shapes(task: Task, rng: np.random.Generator) -> Columns:
    """Dims of the task, a row each: every length of one beside little ones of the others, and all drawn."""
    names = list(task.tests[0].dims)
    rows = list[npt.NDArray[np.int64]]()
    for at, name in enumerate(names):
        swept = _lengths(task, name, rng)
        others = [[little_length(task, other, n) for n in (0, *rng.integers(LITTLE, size=7))] for other in names]
        own = np.array([rng.choice(each, len(swept)) for each in others], np.int64).T
        own[:, at] = swept
        rows.append(own)
    rows.append(np.array([rng.choice(_lengths(task, name, rng), DRAWN) for name in names], np.int64).T)
    every = np.unique(np.concatenate(rows), axis=0)
    return {name: every[:, at] for at, name in enumerate(names)}


def _lengths(task: Task, name: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Lengths of a dim from the least to the greatest that is listed, dense where they are small."""
    listed = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    low, high, step = min(listed), max(listed), task.multiples.get(name, 1)
    first = np.arange(low, min(high, low + STEPS * step) + 1, step)
    evenly = [rng.uniform(low, high, SPREAD), np.exp(rng.uniform(np.log(low), np.log(high), SPREAD))]
    drawn = np.concatenate(evenly).astype(np.int64) // step * step
    return np.unique(np.concatenate([first, drawn[(drawn >= low) & (drawn <= high)]]))
