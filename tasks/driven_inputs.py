"""Inputs on which a comparison with a number has one outcome everywhere, so that nothing hides what follows from it.

Where some of an expert's gates are closed, the open ones make up the output, and a kernel that cuts the closed ones off
is right to the last digit. Where all are closed, the cut is all that there is. A side that was computed is moved by
way of the inputs that it was loaded from: they get one sign, another one of them is turned where the side lies on the
wrong side of zero, and then they are scaled until the last of the values is past the number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tasks.compared_sides import Compared, Reals
from tasks.dtypes import is_float, to_float64
from tasks.held_lines import HELD
from tasks.patterned_inputs import Rng
from tasks.task import Array, Tensors
from tasks.turned_inputs import LEAST

PAST = (0.02, 0.5)  # of the number that the last value lies past it
FAR = 2.0  # times it that the last value may lie away: beyond, exponentials are zero for any kernel
POWER = (0.3, 8.0)  # by which a side grows with its inputs, within reason
JUMP, OCTAVES = 8, 90  # the power of a factor that changed nothing, and the octaves of one step
FLAT = 3 / 4  # of the inputs get values that are much alike with the sign, so that those of the side are, too
NEAR, LEAST_SIZE = 0.1, 0.25  # by which they differ then; of the usual size that none of the others is below


@dataclass
class Drive:
    """The way of one comparison to one outcome: `to`, past `number`, which is side `fixed`."""

    number: float
    fixed: int
    to: bool
    rng: Rng
    has_one_sign: bool = False
    turned: set[str] = field(default_factory=set)  # inputs whose sign was turned
    power: float = 0.0  # by which the side grew with the inputs
    slope: float = 0.0  # or by how much with each octave of them, as an exponent's bits do
    _before: tuple[float, float] | None = None  # the last value then, and the factor since

    def values(self, one: Compared) -> Reals:
        """Those of the side that is moved, where it is compared with the number and is one."""
        moved = one.values(1 - self.fixed)
        return np.asarray(moved[(one.values(self.fixed) == self.number) & np.isfinite(moved)])

    def step(self, one: Compared, state: Tensors, mine: list[str]) -> dict[str, Array] | None:
        """The next inputs; None where the comparison has that outcome everywhere, or nothing is known to lead there."""
        values = self.values(one)
        if not values.size:
            return None
        names = [name for name in _loaded(one, {name: state[name] for name in mine}) if is_float(state[name].dtype)]
        is_less = (one.relation == "less") == (self.fixed == 1)
        last = float(values.max() if is_less == self.to else values.min())
        past = float(self.rng.uniform(*PAST)) * abs(self.number)
        goal = self.number - past if is_less == self.to else self.number + past
        is_there = (one.truth == self.to).all() and 1 / FAR < abs(last / self.number) < FAR
        if not names or not last or not goal or is_there:
            return None
        if (last < 0) != (goal < 0):
            is_mixed = float(values.min()) <= 0 <= float(values.max())
            return self._with_one_sign(state, names) if is_mixed else self._turn(state, names)
        factor = self._factor(last, goal, len(names))
        self._before = last, factor
        return _scaled(state, names, factor)

    def _factor(self, last: float, goal: float, count: int) -> float:
        """The factor of the inputs that leads from the last value to the goal, by how the side has answered so far."""
        self.power = self.power or float(count)
        old, factor = self._before or (0.0, 1.0)
        if factor != 1 and last * old > 0:
            octaves, grown = math.log2(factor), math.log2(abs(last)) - math.log2(abs(old))
            if not grown:
                return float(2.0 ** min(max(JUMP * octaves, -OCTAVES), OCTAVES))
            if POWER[0] < grown / octaves < POWER[1]:
                self.power, self.slope = grown / octaves, 0.0
            else:
                self.slope = (last - old) / octaves
        wanted = (math.log2(abs(goal)) - math.log2(abs(last))) / self.power
        if self.slope:
            wanted = (goal - last) / self.slope
        return float(2.0 ** min(max(wanted, -OCTAVES), OCTAVES))

    def _with_one_sign(self, state: Tensors, names: list[str]) -> dict[str, Array] | None:
        """No value of these inputs below zero, nor next to it; None the second time."""
        if self.has_one_sign:
            return None
        self.has_one_sign, is_flat = True, self.rng.random() < FLAT
        return {**state, **{name: _one_sign(state[name], self.rng, is_flat=is_flat) for name in names}}

    def _turn(self, state: Tensors, names: list[str]) -> dict[str, Array] | None:
        free = [name for name in names if name not in self.turned]
        if not free:
            return None
        name = free[int(self.rng.integers(len(free)))]
        self.turned.add(name)
        self._before = None
        return {**state, name: np.negative(state[name]) + np.zeros((), state[name].dtype)}


def _one_sign(x: Array, rng: Rng, *, is_flat: bool) -> Array:
    size: Array = np.abs(to_float64(x))
    usual = float(np.median(size[size > 0])) if size.any() else 1.0
    if is_flat:
        size = np.asarray(usual * rng.uniform(1 - NEAR, 1 + NEAR, x.shape))
        return size.astype(x.dtype)
    return np.asarray(np.maximum(size, LEAST_SIZE * usual).astype(x.dtype))


def _loaded(one: Compared, made: Mapping[str, Array]) -> list[str]:
    """The inputs that the sides were loaded from; all where nothing of that is known, as behind a barrier."""
    slots = one.slots(made, np.arange(one.truth.size))
    return list(dict.fromkeys(name for _, name, _, rows in slots if rows.size)) or list(made)


def _scaled(state: Tensors, names: list[str], factor: float) -> dict[str, Array] | None:
    made = dict(state)
    for name in names:
        with np.errstate(all="ignore"):
            new = (to_float64(state[name]) * factor).astype(state[name].dtype)
        size = np.abs(to_float64(new))
        if not ((size == 0) | ((size >= LEAST) & (size <= HELD))).all():
            return None
        made[name] = new
    return made
