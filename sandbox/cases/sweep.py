"""A sweep over the shapes of a task: thousands of small cases, each with another length of some dim.

A judge that launches a case in some tens of microseconds need not guess which shapes may show a wrong kernel. It takes
the cases of a sweep one after the other until its time is used up. The order is drawn from a secret, so that two
candidates meet different shapes, and the same secret gives the same cases. Any case can be asked for by its number, so
that several processes can share the work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from records.computed_once import computed_once
from records.errors import PlanError
from sandbox.cases.inputs.swept_values import ALL_BINADES, AS_DRAWN, ONE_BINADE, ONE_SIZE, TURNS
from sandbox.cases.shapes.paired_remainders import LEVELS, RUNS, paired_remainders
from sandbox.cases.shapes.swept_lengths import CHEAP, swept_lengths
from tasks.domain import admits
from tasks.held_out import cost, unlisted_scalars
from tasks.manifest import case_name
from tasks.task import Case, Task

COST = 2.0**21  # operations plus bytes of a case at most, or a few times as much as the cheapest test
CHEAPEST = 4.0  # times as much
SHARES = {ONE_SIZE: 4.0, AS_DRAWN: 1.5, ONE_BINADE: 1.5, ALL_BINADES: 1.0}  # of the cases, by family
SLIGHT = 1 / 3  # of the cases that other dims have
TURN = 8  # cases after which their kinds are the same again
JOINT = frozenset({7})  # of them have all dims drawn, the others one
PAIRED = frozenset({1, 4, 6})  # have short lengths of all dims, by every pair of remainders of two dims
JOINT_COST = 2.0**15
OF_ALL, OF_PAIRS = -1, -2  # in place of the number of the dim that a case is about
LONGER = 3  # times 32 steps that a length by its remainder is longer, at most
SHORTENED = 3  # times at most that such a case is made smaller
LITTLE = 8  # steps above the least length below which the other dims lie, the least ones likeliest: more of them
VARIED = 64  # where the case is cheap even so
MOST = 1 << 14  # cases of a sweep
GOLDEN = 0.6180339887498949  # of a range, by which one turn is from the next: those of a few cases lie all over it

Dims = dict[str, int]
Numbers = npt.NDArray[np.int64]
Fractions = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SweptCase:
    """A shape, and the family that its values come from."""

    case: Case
    family: str


@dataclass(frozen=True)
class _Draws:
    """All that is drawn for the cases of a sweep, before any is made; by dim where it is the dim's."""

    order: Mapping[str, list[int]]  # lengths in the order in which they are taken
    focus: Numbers  # number of the dim that a case is about
    positions: Mapping[str, Numbers]  # in the dim's order
    little: Mapping[str, Fractions]  # how far above its least length, where a case is about another dim
    remainders: Mapping[str, Numbers]  # by LEVELS, of the steps of each length, where a case is about pairs
    like: Numbers  # number of the test whose scalars and missing inputs it has
    seed: Numbers
    family: npt.NDArray[np.str_]


@dataclass(frozen=True)
class Sweep:
    """The shapes of one task in a secret order; `marked` are numbers beside which lengths come first."""

    task: Task
    secret: int
    families: tuple[str, ...] = (AS_DRAWN,)  # those that the task bears
    marked: tuple[int, ...] = ()
    slight: tuple[str, ...] = ()  # dims of which fewer cases are, since elements do not depend on others along them

    def cases(self, start: int = 0, stop: int = MOST) -> Iterator[SweptCase]:
        """Yield those with these numbers, the most telling first; some have none. The same fields give the same."""
        if not self._draws.order:
            return
        names = set[str]()
        for number in range(start, min(stop, MOST)):
            dims = self._dims(number)
            name = case_name(dims)
            if name not in names and self._is_shape(dims):
                names.add(name)
                yield SweptCase(self._case(number, name, dims), str(self._draws.family[number]))

    @computed_once
    def limit(self) -> float:
        """Return the operations plus bytes of a case at most."""
        return max(COST, CHEAPEST * min(cost(self.task, case.dims) for case in self.task.tests))

    @computed_once
    def _listed(self) -> Mapping[str, list[int]]:
        cases = (*self.task.tests, *self.task.benchmarks)
        return {name: [case.dims[name] for case in cases] for name in self.task.tests[0].dims}

    @computed_once
    def _least(self) -> Mapping[str, int]:
        return {name: min(lengths) for name, lengths in self._listed.items()}

    @computed_once
    def _draws(self) -> _Draws:
        rng = np.random.default_rng(self.secret)
        order = self._orders(rng)
        names = list(order)
        turns = np.array([(math.log2(len(order[n])) + 1) * (SLIGHT if n in self.slight else 1.0) for n in names])
        focus = rng.choice(max(1, len(names)), MOST, p=turns / turns.sum() if names else None)
        for number, kinds in ((OF_ALL, JOINT), (OF_PAIRS, PAIRED)) if len(names) > 1 else ():
            focus[np.isin(np.arange(MOST) % TURN, [*kinds])] = number
        paired = paired_remainders(len(names), rng)[(np.cumsum(focus == OF_PAIRS) - 1) % RUNS]
        positions = {}
        for dim, name in enumerate(names):
            turn = np.cumsum(focus == dim) - 1
            positions[name] = np.where(focus < 0, rng.integers(len(order[name]), size=MOST), turn % len(order[name]))
        families = [name for name in SHARES if name == AS_DRAWN or name in self.families]
        shares = np.array([SHARES[name] for name in families])
        family = np.array(families)[rng.choice(len(families), MOST, p=shares / shares.sum())]
        return _Draws(
            order,
            focus,
            positions,
            {name: rng.random(MOST) for name in self._listed},
            {name: paired[:, dim] for dim, name in enumerate(names)},
            rng.integers(len(self.task.tests), size=MOST),
            self._seeds(family, rng),
            family,
        )

    def _seeds(self, family: npt.NDArray[np.str_], rng: np.random.Generator) -> Numbers:
        """Draw the cases' seeds; those with one binade have their turns in them: all exponents come soon."""
        seeds, is_one = rng.integers(2**32, size=MOST), family == ONE_BINADE
        turns = ((np.cumsum(is_one) + int(rng.integers(TURNS))) * GOLDEN % 1.0 * TURNS).astype(np.int64)
        return np.where(is_one, seeds // TURNS * TURNS + turns, seeds)

    def _orders(self, rng: np.random.Generator) -> dict[str, list[int]]:
        """Draw for each dim that varies the order of its lengths, beside the least of the others."""
        orders = dict[str, list[int]]()
        for name, lengths in self._listed.items():

            def spent(length: int, name: str = name) -> float:
                return cost(self.task, {**self._least, name: length})

            order = swept_lengths(lengths, self.task.multiples.get(name, 1), spent, self.limit, self.marked, rng)
            if order:
                orders[name] = order
        return orders

    def _dims(self, number: int) -> Dims:
        """Draw the lengths of a case; where they cost too much the other dims have their least, or all are shorter."""
        draws, names = self._draws, list(self._draws.order)
        focus = int(draws.focus[number])
        if focus == OF_PAIRS:
            return self._by_remainders(number)
        if focus == OF_ALL:
            drawn = {name: draws.order[name][int(draws.positions[name][number])] for name in names}
            return self._shortened({**self._least, **drawn})
        name = names[focus]
        chosen = {**self._least, name: draws.order[name][int(draws.positions[name][number])]}
        spare = CHEAP / max(1.0, cost(self.task, chosen))
        steps = min(VARIED, max(LITTLE, spare ** (1 / max(1, len(names) - 1))))
        short_dims = {other: self._little(other, steps, number) for other in self._listed if other != name}
        return {**chosen, **short_dims} if cost(self.task, {**chosen, **short_dims}) <= self.limit else chosen

    def _by_remainders(self, number: int) -> Dims:
        """Make each dim as short as its remainder lets it be, or a little longer where the case is still cheap."""
        for longest in (LONGER, 1):
            dims = dict(self._least)
            for name in self._draws.order:
                step = self.task.multiples.get(name, 1)
                least, most = -(-self._least[name] // step), max(self._listed[name]) // step
                count = least + (int(self._draws.remainders[name][number]) - least) % LEVELS
                count += LEVELS * int(longest * float(self._draws.little[name][number]))
                dims[name] = step * (count if count <= most else min(most, count % LEVELS + least))
            if cost(self.task, dims) <= JOINT_COST:
                break
        return dims

    def _little(self, name: str, steps: float, number: int) -> int:
        """Draw a length up to so many steps above the least, no octave of the steps likelier than another."""
        step = self.task.multiples.get(name, 1)
        above = int(steps ** float(self._draws.little[name][number])) - 1
        return int(min(max(self._listed[name]), -(-self._least[name] // step) * step + step * above))

    def _shortened(self, dims: Dims) -> Dims:
        """Shorten all dims by the same factor until the case is affordable."""
        varied = list(self._draws.order)
        for _ in range(SHORTENED):
            over = cost(self.task, dims) / JOINT_COST
            if over <= 1:
                break
            share = over ** (-1 / len(varied))
            for name in varied:
                step = self.task.multiples.get(name, 1)
                dims[name] = max(self._least[name], int(dims[name] * share) // step * step)
        return dims

    def _is_shape(self, dims: Dims) -> bool:
        try:
            return cost(self.task, dims) <= self.limit and admits(self.task, dims)
        except PlanError:
            return False

    def _case(self, number: int, name: str, dims: Dims) -> Case:
        """Make a case with scalars and missing inputs as one of the tests has them."""
        like = self.task.tests[int(self._draws.like[number])]
        seed = int(self._draws.seed[number])
        scalars = unlisted_scalars(self.task, like, np.random.default_rng(seed)) if self.task.scalars else {}
        return replace(like, name=name, dims=dims, seed=seed, weight=1.0, role="held_out", scalars=scalars)
