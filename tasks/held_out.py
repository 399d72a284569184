"""Held-out cases: derived from the test cases, never listed, with inputs that no candidate has met."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tasks.domain import LEAST, admits, shapes_within
from tasks.dtypes import is_float, numpy_dtype
from tasks.manifest import case_name
from tasks.task import Case, Task

COUNT = 4
SMALL = 2.0**23  # operations plus bytes a case may always cost
LARGEST = 3  # how many of the affordable test cases shapes are derived from: tiny ones show little
TRIES = 16  # draws for each kind of shape before it is given up
EXACT = (2**16, 2**24)  # up to which 16 bits and float32 count
NEAR = 0.98  # of these, from which on a dim ends there
PAST = 64  # pairs of multiples at most by which a dim is longer: an odd number of them, which float32 has not


def held_out_cases(task: Task, rng_seed: int) -> tuple[Case, ...]:
    """Draw up to four cases: a shape a step from a test's, a prime one, one on a round boundary, a known one again.

    The same task and seed give the same cases. Dims keep the task's multiples and stay between their listed lengths; no
    case costs much more than the small test cases, so that a processor can execute it. Of a part of a task all lie in
    it, three at least are new shapes, and those beside thresholds are among them.
    """
    rng = np.random.default_rng([rng_seed, int(task.digest[:12], 16)])
    limit = cost_limit(task)
    bases = affordable(task)[:LARGEST]
    case_names = {case.name for case in (*task.tests, *(task.benchmarks if task.conditions else ()))}
    ranges = _ranges(task)
    cases: list[Case] = []
    for move in (_step, _prime, _round):
        for _ in range(TRIES):
            base = bases[int(rng.integers(len(bases)))]
            dims = {name: move(value, task.multiples.get(name, 1), rng) for name, value in base.dims.items()}
            name = case_name(dims)
            if any(not low <= dims[dim] <= high for dim, (low, high) in ranges.items()):
                continue
            if name not in case_names and cost(task, dims) <= limit and admits(task, dims):
                case_names.add(name)
                cases.append(_case(task, name, dims, rng, base))
                break
    repeated = bases[int(rng.integers(len(bases)))]
    cases.append(_case(task, f"{repeated.name} (new inputs)", repeated.dims, rng, repeated))
    return (*cases[:COUNT], *_cases_of_part(task, case_names, COUNT - len(cases), rng))


def _ranges(task: Task) -> dict[str, tuple[int, int]]:
    """Find the least and the largest listed length of each dim with several: nobody promises anything beyond."""
    listed = {dim: {case.dims[dim] for case in (*task.tests, *task.benchmarks)} for dim in task.tests[0].dims}
    return {dim: (min(lengths), max(lengths)) for dim, lengths in listed.items() if len(lengths) > 1}


def _cases_of_part(task: Task, case_names: set[str], missing: int, rng: np.random.Generator) -> list[Case]:
    """Take shapes beside the thresholds, and new ones in place of those that a condition does not admit."""
    new = shapes_within(task, rng, LEAST) if task.conditions and missing > 0 else []
    free = [dims for dims in new if case_name(dims) not in case_names]
    chosen = [free[int(index)] for index in rng.permutation(len(free))[:missing]] if free else []
    return [_case(task, case_name(dims), dims, rng, task.tests[0]) for dims in (*chosen, *task.edges)]


def past_exact_counts(task: Task, case: Case, rng: np.random.Generator) -> Case:
    """Lengthen the case a little in dims that end where a type still counts exactly; as it is where none does."""
    dims = dict(case.dims)
    for name, length in case.dims.items():
        listed = {listed_case.dims[name] for listed_case in (*task.tests, *task.benchmarks)}
        multiple = task.multiples.get(name, 1)
        last = next((most for most in EXACT if NEAR * most <= length <= most), 0)
        if len(listed) > 1 and max(listed) <= last:
            dims[name] = (last // multiple + 1 + 2 * int(rng.integers(PAST))) * multiple
    return replace(case, name=case_name(dims), dims=dims) if dims != case.dims and admits(task, dims) else case


def affordable(task: Task) -> list[Case]:
    """List the test cases that cost no more than the limit, the most expensive first."""
    limit = cost_limit(task)
    return sorted((c for c in task.tests if cost(task, c.dims) <= limit), key=lambda c: -cost(task, c.dims))


def cost_limit(task: Task) -> float:
    """Return the highest cost of a derived case: a fixed amount, or four times the cheapest test where that is more."""
    return max(SMALL, 4 * min(cost(task, case.dims) for case in task.tests))


def cost(task: Task, dims: Mapping[str, int]) -> float:
    """Count the operations plus bytes of a shape."""
    return sum(task.work(Case("", dims, 0)))


def _case(task: Task, name: str, dims: Mapping[str, int], rng: np.random.Generator, like: Case) -> Case:
    """Make a case with the inputs that another one gives, and scalars between those that are listed."""
    seed = int(rng.integers(2**32))
    return Case(name, dict(dims), seed, 1.0, "held_out", unlisted_scalars(task, like, rng), like.absent)


def unlisted_scalars(task: Task, like: Case, rng: np.random.Generator) -> Mapping[str, float | int]:
    """Give a case's scalars; a real one of which the cases list several values lies between least and largest."""
    scalars = dict(like.scalars)
    for spec in task.scalars:
        cases = (*task.tests, *task.benchmarks)
        listed = {case.scalars[spec.name] for case in cases if spec.name in case.scalars}  # by hand: without constants
        if len(listed) > 1 and is_float(numpy_dtype(spec.dtype)):
            scalars[spec.name] = float(rng.uniform(min(listed), max(listed)))
    return scalars


def _step(value: int, multiple: int, rng: np.random.Generator) -> int:
    """Take one step up or down."""
    return max(multiple, value + multiple * int(rng.choice([-1, 1])))


def _prime(value: int, multiple: int, rng: np.random.Generator) -> int:
    """Draw the next prime number of steps, from somewhere up to half as large again."""
    count = value // multiple
    start = count + int(rng.integers(count // 2 + 2))
    return multiple * next(n for n in range(start, 2 * start + 3) if _is_prime(n))


def _round(value: int, multiple: int, rng: np.random.Generator) -> int:
    """Draw a power of two near the value, or one step beside it: where tiles end."""
    count = max(1, value // multiple)
    power = 1 << round(math.log2(count))
    return multiple * max(1, power + int(rng.choice([-1, 0, 1])))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, math.isqrt(number) + 1))
