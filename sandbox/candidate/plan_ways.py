"""Shapes for the ways of a plan that no case takes: which launches it makes, by the conditions that it gives them.

Two conditions that should meet may leave a hole, or overlap. So the truth of all of them together is computed for
thousands of shapes of the task, among them those next to where a condition turns. Each new pattern gets a case; one
in which nothing could write an output gets it however large the shape is, for there is nothing to execute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from records.errors import PlanError
from sandbox.candidate.many_shapes import Columns, shapes
from sandbox.candidate.plan import Launch
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.written_lengths import COST
from tasks.domain import admits
from tasks.expressions import evaluate, names_in
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COUNT = 6  # cases of a candidate
MOST = 40_000  # conditions that are evaluated for drawn shapes
TURNS = 24  # drawn shapes from which each dim is followed to where the pattern turns
UNWRITTEN_COST = 2.0**29  # of a case in which nothing is executed: its inputs are drawn all the same

Pattern = tuple[bool, ...]
Dims = dict[str, int]


def plan_way_cases(prepared: Prepared, rng_seed: int, known: Collection[Case]) -> tuple[Case, ...]:
    """Cases for patterns of conditions that no known case has; the same arguments give the same cases."""
    task, plan = prepared.task, prepared.candidate.plan
    conditions = _Conditions(plan.launches, task, prepared.tunables)
    if not conditions.texts or prepared.arms:
        return ()
    rng = np.random.default_rng([rng_seed, int(task.digest[:12], 16), 11])
    met = {conditions.pattern(case.dims) for case in known}
    limit = max(COST, min(cost(task, case.dims) for case in task.tests))
    found = dict[Pattern, Dims]()
    for dims in _tried(conditions, shapes(task, rng), rng):
        pattern = conditions.pattern(dims)
        most = limit if conditions.writes_all(pattern) else UNWRITTEN_COST
        if pattern is not None and pattern not in met and cost(task, dims) <= most and admits(task, dims):
            found.setdefault(pattern, dims)
    order = sorted(found, key=conditions.writes_all)[:COUNT]
    seeds = rng.integers(2**32, size=len(order))
    return tuple(
        replace(task.tests[0], name=case_name(dims), dims=dims, seed=int(seed), weight=1.0, role="held_out")
        for dims, seed in zip((found[one] for one in order), seeds, strict=True)
    )


class _Conditions:
    """The conditions of a plan's launches that depend on dims and tunables alone."""

    def __init__(self, launches: tuple[Launch, ...], task: Task, tunables: Mapping[str, int]) -> None:
        self.task, self.fixed = task, dict(tunables)
        names = {*task.tests[0].dims, *tunables}
        self.texts = list(dict.fromkeys(one.when for one in launches if one.when and names_in(one.when) <= names))
        self._launches = [(one, self.texts.index(one.when) if one.when in self.texts else -1) for one in launches]

    def pattern(self, dims: Mapping[str, int]) -> Pattern | None:
        """The truth of each condition; None where one has no number."""
        try:
            return tuple(bool(evaluate(text, {**self.fixed, **dims})) for text in self.texts)
        except PlanError:
            return None

    def writes_all(self, pattern: Pattern | None) -> bool:
        """True where each output is an argument of a launch that is made."""
        made = [one for one, at in self._launches if at < 0 or pattern is None or pattern[at]]
        given = frozenset[str]().union(*(_names(argument) for one in made for argument in one.args))
        return all(spec.name in given for spec in self.task.outputs)


def _names(argument: object) -> frozenset[str]:
    if isinstance(argument, tuple):
        return frozenset[str]().union(*map(_names, argument))
    return names_in(str(argument).rpartition(":")[0] or str(argument))


def _tried(conditions: _Conditions, columns: Columns, rng: np.random.Generator) -> Iterator[Dims]:
    """Drawn shapes, and those on both sides of each turn that lies between two of them along one dim."""
    names = list(columns)
    count = len(columns[names[0]])
    chosen = rng.permutation(count)[: MOST // len(conditions.texts)]
    drawn = [{name: int(columns[name][at]) for name in names} for at in chosen]
    yield from drawn
    for dims in drawn[:TURNS]:
        rounded = {name: max(int(columns[name].min()), 1 << length.bit_length() - 1) for name, length in dims.items()}
        for base in (dims, rounded):
            for name in names:
                yield from _turns(conditions, base, name, columns)


def _turns(conditions: _Conditions, base: Dims, name: str, columns: Columns) -> Iterator[Dims]:
    """The shapes at and beside the length of one dim at which the pattern turns, for each pair of its lengths."""
    step = conditions.task.multiples.get(name, 1)
    lengths = np.unique(columns[name])[:: max(1, len(np.unique(columns[name])) // 16)]
    for low, high in zip(lengths[:-1].tolist(), lengths[1:].tolist(), strict=True):
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
