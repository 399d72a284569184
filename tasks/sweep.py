"""A sweep over the shapes of a task: thousands of small cases, each with another length of some dim.

A judge that launches a case in some tens of microseconds need not guess which shapes may show a wrong kernel. It takes
the cases of a sweep one after the other until its time is used up. The order is drawn from a secret, so that two
candidates meet different shapes, and the same secret gives the same cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from records.computed_once import computed_once
from records.errors import PlanError
from tasks.domain import admits
from tasks.held_out import cost, unlisted_scalars
from tasks.manifest import case_name
from tasks.swept_lengths import swept_lengths
from tasks.swept_values import AS_DRAWN, VALUES
from tasks.task import Case, Task

COST = 2.0**21  # operations plus bytes of a case at most, or as much as the cheapest test
JOINT = 4  # one case in so many has all dims drawn, the others one
JOINT_COST = 2.0**15
SHORTENED = 3  # times at most that such a case is made smaller
LITTLE = 8  # steps above the least length below which the other dims lie, the least ones likeliest
FAILED = 64  # shapes in a row that are none, or are known: there are no more

Dims = dict[str, int]


@dataclass(frozen=True)
class SweptCase:
    """A shape, and the family that its values come from."""

    case: Case
    family: str


@dataclass(frozen=True)
class Sweep:
    """The shapes of one task in a secret order; `marked` are numbers beside which lengths come first."""

    task: Task
    secret: int
    families: tuple[str, ...] = (AS_DRAWN,)  # of `VALUES`: those that the task bears
    marked: tuple[int, ...] = ()

    def cases(self) -> Iterator[SweptCase]:
        """All of them, the most telling first; the same fields give the same ones."""
        rng, known, failed = np.random.default_rng(self.secret), set[str](), 0
        orders = self._orders(rng)
        names = list(orders)
        if not names:
            return
        turns = np.array([math.log2(len(orders[name])) + 1 for name in names])
        places, number = dict.fromkeys(names, 0), 0
        while failed < FAILED:
            number += 1
            focus = names[int(rng.choice(len(names), p=turns / turns.sum()))]
            if number % JOINT == 0 and len(names) > 1:
                dims = self._joint(orders, rng)
            else:
                dims = self._beside(focus, orders[focus][places[focus] % len(orders[focus])], rng)
                places[focus] += 1
            name = case_name(dims)
            if name in known or not self._is_shape(dims):
                failed += 1
                continue
            known.add(name)
            failed = 0
            yield SweptCase(self._case(name, dims, rng), self._family(number, rng))

    @computed_once
    def limit(self) -> float:
        """Operations plus bytes of a case at most."""
        return max(COST, min(cost(self.task, case.dims) for case in self.task.tests))

    @computed_once
    def _listed(self) -> Mapping[str, list[int]]:
        cases = (*self.task.tests, *self.task.benchmarks)
        return {name: [case.dims[name] for case in cases] for name in self.task.tests[0].dims}

    def _orders(self, rng: np.random.Generator) -> dict[str, list[int]]:
        """For each dim that varies the order of its lengths, beside the least of the others."""
        least, found = {name: min(lengths) for name, lengths in self._listed.items()}, dict[str, list[int]]()
        for name, lengths in self._listed.items():

            def spent(length: int, name: str = name) -> float:
                return cost(self.task, {**least, name: length})

            order = swept_lengths(lengths, self.task.multiples.get(name, 1), spent, self.limit, self.marked, rng)
            if order:
                found[name] = order
        return found

    def _beside(self, focus: str, length: int, rng: np.random.Generator) -> Dims:
        """The dim at this length, the others at little ones, at their least where that would cost too much."""
        dims = {name: length if name == focus else self._little(name, rng) for name in self._listed}
        if cost(self.task, dims) <= self.limit:
            return dims
        return {name: length if name == focus else min(lengths) for name, lengths in self._listed.items()}

    def _little(self, name: str, rng: np.random.Generator) -> int:
        lengths, step = self._listed[name], self.task.multiples.get(name, 1)
        above = int(LITTLE ** rng.random()) - 1
        return min(max(lengths), -(-min(lengths) // step) * step + step * above)

    def _joint(self, orders: Mapping[str, Sequence[int]], rng: np.random.Generator) -> Dims:
        """Every dim at some length of its order, all of them shorter by the same factor where the case costs much."""
        least = {name: min(lengths) for name, lengths in self._listed.items()}
        dims = {**least, **{name: order[int(rng.integers(len(order)))] for name, order in orders.items()}}
        for _ in range(SHORTENED):
            over = cost(self.task, dims) / JOINT_COST
            if over <= 1:
                break
            share = over ** (-1 / len(orders))
            for name in orders:
                step = self.task.multiples.get(name, 1)
                dims[name] = max(least[name], int(dims[name] * share) // step * step)
        return dims

    def _is_shape(self, dims: Dims) -> bool:
        try:
            return cost(self.task, dims) <= self.limit and admits(self.task, dims)
        except PlanError:
            return False

    def _case(self, name: str, dims: Dims, rng: np.random.Generator) -> Case:
        """A case with scalars and missing inputs as one of the tests has them."""
        like = self.task.tests[int(rng.integers(len(self.task.tests)))]
        scalars = unlisted_scalars(self.task, like, rng) if self.task.scalars else {}
        seed = int(rng.integers(2**32))
        return replace(like, name=name, dims=dims, seed=seed, weight=1.0, role="held_out", scalars=scalars)

    def _family(self, number: int, rng: np.random.Generator) -> str:
        """Every other case as it is drawn, the others of the families in turn, from a drawn one on."""
        others = [name for name in VALUES if name in self.families]
        if not others or number % 2:
            return AS_DRAWN
        return others[int(rng.integers(len(others)))]
