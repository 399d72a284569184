"""Short lines of every length modulo what a load of 16 bytes takes, drawn in secret.

Kernels that load vectors peel the places before the first aligned one and those behind the last: which these are
follows from the length's remainder, and from the line's number. A fault there is one of a few elements, which long
lines hide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import gcd, prod

import numpy as np

from tasks.domain import admits
from tasks.dtypes import size_bytes
from tasks.gaps import COST, little
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task, TensorSpec

VECTOR_BYTES = 16
MOST = 8  # elements of a vector by whose remainders shapes are drawn
SHORT = 4  # vectors of a line at most
LINES = 4  # for each remainder of a line's number
TRIES = 4


def remainder_shapes(task: Task, known: Sequence[Case], rng: np.random.Generator) -> tuple[Case, ...]:
    """For each dim of last axes a case for every remainder that no known one has on many short lines."""
    found = list[Case]()
    for name, (spec, each) in _last_axes(task).items():
        met = {case.dims[name] % each for case in known if _shows(task, spec, case, name, each)}
        step = task.multiples.get(name, 1)
        for remainder in range(0, each, gcd(step, each)):
            if remainder not in met and (case := _with(task, spec, name, each, remainder, rng)):
                found.append(case)
    return tuple({case.name: case for case in found}.values())


def _last_axes(task: Task) -> dict[str, tuple[TensorSpec, int]]:
    """Dims that are the last axis of a tensor of several, with the one that has most elements in a vector."""
    found = dict[str, tuple[TensorSpec, int]]()
    for spec in (*task.inputs, *task.outputs):
        each = min(MOST, VECTOR_BYTES // size_bytes(spec.dtype))
        name = spec.shape[-1] if len(spec.shape) > 1 else ""
        if name in task.tests[0].dims and each > found.get(name, (spec, 1))[1]:
            found[name] = spec, each
    return found


def _shows(task: Task, spec: TensorSpec, case: Case, name: str, each: int) -> bool:
    return case.dims[name] <= SHORT * each and prod(task.shape_of(spec, case)[:-1]) >= LINES * each


def _with(task: Task, spec: TensorSpec, name: str, each: int, remainder: int, rng: np.random.Generator) -> Case | None:
    lengths, lines = _lengths(task, name, each, remainder), [n for n in spec.shape[:-1] if n in task.tests[0].dims]
    for turn in range(TRIES if lengths else 0):
        dims = {other: little(task, other, rng) for other in task.tests[0].dims} | {name: int(rng.choice(lengths))}
        for one in lines[turn % len(lines) :][:1] if lines else ():
            dims[one] *= LINES if turn >= TRIES // 2 else 4 * LINES  # fewer where so many cost too much
        made = replace(task.tests[0], name=case_name(dims), dims=dims, weight=1.0, role="held_out")
        made = replace(made, seed=int(rng.integers(2**32)))
        if _shows(task, spec, made, name, each) and cost(task, dims) <= COST and admits(task, dims):
            return made
    return None


def _lengths(task: Task, name: str, each: int, remainder: int) -> list[int]:
    """The short lengths within the listed range that leave this remainder."""
    listed, step = [case.dims[name] for case in (*task.tests, *task.benchmarks)], task.multiples.get(name, 1)

    def fitting() -> Iterator[int]:
        for length in range(each + 1, SHORT * each + 1):
            if length % each == remainder and length % step == 0 and min(listed) <= length <= max(listed):
                yield length

    return [*fitting()]
