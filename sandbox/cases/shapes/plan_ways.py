"""Shapes for the ways of a plan that no case takes: which launches it makes, by the conditions that it gives them.

Two conditions that should meet may leave a hole, or overlap. So the truth of all of them together is computed for
thousands of shapes of the task, among them those next to where a condition turns. Each new pattern gets a case, of a
shape as large as is affordable, or else of the cheapest one, of which a judge executes a part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from records.errors import PlanError
from sandbox.candidate.plan import Launch
from sandbox.candidate.prepare import Prepared
from sandbox.cases.shapes.many_shapes import Columns, shapes
from tasks.distinct import distinct
from tasks.domain import admits
from tasks.expressions import evaluate, names_in
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COUNT = 6  # cases of a candidate
COST = 2.0**21  # operations plus bytes of a case, or as much as the cheapest test where that is more
MOST_TEXT = 1_000_000  # characters of conditions that are evaluated: half of them for drawn shapes
TURNS = 24  # drawn shapes from which each dim is followed to where the pattern turns
MOST_COST = 2.0**27  # operations plus bytes of a case, whose inputs are drawn though only a part of it is executed

Pattern = tuple[bool, ...]
Dims = dict[str, int]


def plan_way_cases(prepared: Prepared, rng_seed: int, known_cases: Collection[Case]) -> tuple[Case, ...]:
    """Cases for patterns of conditions that no known case has; the same arguments give the same cases."""
    task, plan = prepared.task, prepared.candidate.plan
    conditions = _Conditions(plan.launches, task, prepared.tunables)
    if not conditions.texts or prepared.arms:
        return ()
    rng = np.random.default_rng([rng_seed, int(task.digest[:12], 16), 11])
    largest = _largest_shapes(conditions, known_cases, whole_cost(task), rng)
    fewest_first = sorted(largest, key=sum)  # by their launches
    chosen = [largest[pattern][1] for pattern in fewest_first[:COUNT]]
    seeds = rng.integers(2**32, size=len(chosen))
    return tuple(
        replace(task.tests[0], name=case_name(dims), dims=dims, seed=int(seed), weight=1.0, role="held_out")
        for dims, seed in zip(chosen, seeds, strict=True)
    )


def _largest_shapes(
    conditions: _Conditions, known_cases: Collection[Case], limit: float, rng: np.random.Generator
) -> dict[Pattern, tuple[float, Dims]]:
    """For each pattern that no known case has the largest shape within the limit, or the cheapest below zero."""
    task, best = conditions.task, dict[Pattern, tuple[float, Dims]]()
    met = {conditions.pattern(case.dims) for case in known_cases}
    for dims in _tried(conditions, shapes(task, rng), rng):
        pattern = conditions.pattern(dims)
        if pattern is None or pattern in met or not admits(task, dims):
            continue
        spent = cost(task, dims)
        rank = spent if spent <= limit else -spent
        if spent <= MOST_COST and rank > best.get(pattern, (-np.inf, dims))[0]:
            best[pattern] = (rank, dims)
    return best


def whole_cost(task: Task) -> float:
    """Operations plus bytes of a case up to which it is executed whole as a matter of course."""
    return max(COST, min(cost(task, case.dims) for case in task.tests))


class _Conditions:
    """The conditions of a plan's launches that depend on dims and tunables alone."""

    def __init__(self, launches: tuple[Launch, ...], task: Task, tunables: Mapping[str, int]) -> None:
        self.task, self.fixed = task, dict(tunables)
        names = {*task.tests[0].dims, *tunables}
        self.texts = list(
            dict.fromkeys(launch.when for launch in launches if launch.when and names_in(launch.when) <= names)
        )
        self.length = sum(map(len, self.texts))
        self.spent = 0  # characters

    def pattern(self, dims: Mapping[str, int]) -> Pattern | None:
        """Evaluate each condition; None where one has no number."""
        self.spent += self.length
        try:
            return tuple(bool(evaluate(text, {**self.fixed, **dims})) for text in self.texts)
        except PlanError:
            return None


def _tried(conditions: _Conditions, columns: Columns, rng: np.random.Generator) -> Iterator[Dims]:
    """Drawn shapes, and those on both sides of each turn that lies between two of them along one dim."""
    names = list(columns)
    count = len(columns[names[0]])
    chosen = rng.permutation(count)[: MOST_TEXT // 2 // conditions.length]
    drawn = [{name: int(columns[name][row]) for name in names} for row in chosen]
    yield from drawn
    for dims in drawn[:TURNS]:
        rounded = {name: max(int(columns[name].min()), 1 << length.bit_length() - 1) for name, length in dims.items()}
        for base in (dims, rounded):
            for name in names:
                yield from _dims_at_turns(conditions, base, name, columns)


def _dims_at_turns(conditions: _Conditions, base: Dims, name: str, columns: Columns) -> Iterator[Dims]:
    """Yield the shapes at and beside the length of one dim at which the pattern turns, for each pair of lengths."""
    step = conditions.task.multiples.get(name, 1)
    lengths = distinct(columns[name])
    lengths = lengths[:: max(1, len(lengths) // 16)]
    for low, high in zip(lengths[:-1].tolist(), lengths[1:].tolist(), strict=True):
        if conditions.spent > MOST_TEXT:
            return
        first, last = (conditions.pattern({**base, name: length}) for length in (low, high))
        if first == last:
            continue
        while high - low > step:
            middle = low + (high - low) // step // 2 * step
            if conditions.pattern({**base, name: middle}) == first:
                low = middle
            else:
                high = middle
        for length in (low, high, high + step):
            if int(columns[name].min()) <= length <= int(columns[name].max()):
                yield {**base, name: length}
