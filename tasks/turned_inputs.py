"""Inputs in which a comparison of a candidate goes the other way: made of what it compared, never of a guess.

A recording (`sandbox/lab/build/recorder.py`) says of each comparison both sides, its outcome, and the places in memory
that they were loaded from. A side that is one of the inputs' values is found by its place, or by its value where only
one has it. Here exactly these values are changed, so that equal ones differ, unequal ones are equal, or the smaller one
is larger; everything else stays as it was drawn. A side that was computed is moved by way of the values that it was
computed of, or of whole inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.compared_sides import NONE, RAW, SIZE, Compared, Side, found_by_value, side_of
from tasks.dtypes import is_float, to_float64
from tasks.held_lines import HELD
from tasks.patterned_inputs import Rng
from tasks.task import Array

BEYOND = (2.0**-20, 0.003, 0.03, 0.3, 1.0, 4.0)  # of the other side that a value is moved past it
SHORT = 0.1  # of it that a value may stay before the turn instead, where an error of little more than that shows
SOME = 1 / 3  # of the turns change a part of the places
ROOTS = (1.0, 0.5, 2.0)  # powers of a ratio by which inputs are scaled, for sums, squares and roots
LARGEST, LEAST = 2.0**100, 2.0**-126  # of values that something is computed with
WHOLE = 1 / 2  # of the turns move whole inputs where a side was computed
FEW = 1 / 6  # of the turns where "not less" means equal, or that stop short

Changed = dict[str, Array]


@dataclass(frozen=True)
class Turner:
    """Turns comparisons on one set of inputs, of which these may be changed; `moves`: nothing is computed of them."""

    inputs: Mapping[str, Array]
    mine: Sequence[str]
    moves: bool
    rng: Rng

    def turned(self, one: Compared, *, to: bool) -> Changed | None:
        """The inputs on which more of these comparisons come out as asked; None where no way is known."""
        rows = np.flatnonzero(one.truth != to)
        wanted = _wanted(one.relation, to, self.rng)
        if not rows.size or not wanted:
            return None
        if self.rng.random() < SOME:
            kept = rows[self.rng.random(rows.size) < self.rng.choice((0.5, 0.9))]
            rows = kept if kept.size else rows
        chosen = one.only(rows)
        made = {name: np.array(self.inputs[name]).reshape(-1) for name in self.mine}
        known = found_by_value(made)
        sides = side_of(chosen, 0, made, known), side_of(chosen, 1, made, known)
        if wanted == "equal":
            is_done = self._equal(chosen, sides, made)
        elif wanted == "differ":
            is_done = self._differ(sides, made)
        else:
            is_done = self._ordered(chosen, sides, made, wanted)
        return self._kept(made) if is_done else None

    def _kept(self, made: Changed) -> Changed | None:
        """The changed inputs, as far as the values may be some; None where nothing was changed."""
        found, is_other = dict(self.inputs), False
        for name, values in made.items():
            old = self.inputs[name].reshape(-1)
            if is_float(values.dtype):
                size = np.abs(to_float64(values))
                fits = np.isfinite(size) & (self.moves | (size == 0) | ((size <= LARGEST) & (size >= LEAST)))
                with np.errstate(invalid="ignore"):  # nor is a signalling NaN kept
                    values = np.where(fits, values + np.zeros((), values.dtype), old)  # and no zero is negative
            is_other |= not np.array_equal(values.view(np.uint8), old.view(np.uint8))
            found[name] = values.reshape(self.inputs[name].shape)
        return found if is_other else None

    def _equal(self, one: Compared, sides: tuple[Side, Side], made: Changed) -> bool:
        """Every pair becomes equal: all that hang together take one value, and what is compared with a number it."""
        left, right = sides
        both = (left.how != NONE) & (right.how != NONE)
        self._join(left, right, np.flatnonzero(both), made)
        done = bool(both.any())
        for side, other in (sides, sides[::-1]):
            rows = np.flatnonzero((side.how != NONE) & (other.how == NONE))
            side.put(made, rows, other.values[rows], other.bits[rows])
            done |= bool(rows.size)
        rows = np.flatnonzero((left.how == NONE) & (right.how == NONE))
        return done | self._derived_equal(one, sides, rows, made)

    def _join(self, left: Side, right: Side, rows: npt.NDArray[np.int64], made: Changed) -> None:
        over: dict[tuple[int, int], tuple[int, int]] = {}

        def top(place: tuple[int, int]) -> tuple[int, int]:
            while over.get(place, place) != place:
                place = over[place]
            return place

        pairs = [((int(left.name[r]), int(left.at[r])), (int(right.name[r]), int(right.at[r]))) for r in rows]
        is_raw = {
            place for pair, r in zip(pairs, rows, strict=True) if RAW in (left.how[r], right.how[r]) for place in pair
        }
        for one, other in pairs:
            a, b = top(one), top(other)
            if a != b:
                over[max(a, b)] = min(a, b)
        width = SIZE.get(left.kind, 1)
        for place in {each for pair in pairs for each in pair}:
            first = top(place)
            if first == place:
                continue
            source, target = made[left.names[first[0]]], made[left.names[place[0]]]
            if place in is_raw or first in is_raw:
                into, of = target.view(np.uint8), source.view(np.uint8)
                into[place[1] : place[1] + width] = of[first[1] : first[1] + width]
            else:
                target[place[1]] = source[first[1]].astype(target.dtype)

    def _derived_equal(
        self, one: Compared, sides: tuple[Side, Side], rows: npt.NDArray[np.int64], made: Changed
    ) -> bool:
        """Values that both sides were computed of become zero, one value, or the number on the other side."""
        way, done = int(self.rng.integers(3)), False
        for values, at, of in one.elements(rows, made):
            done |= bool(at.size)
            if way == 0:
                values[at] = np.zeros((), values.dtype)
            elif way == 1:
                values[at] = values[at[:1]]
            else:
                fill = sides[int(self.rng.integers(2))].values[of]
                with np.errstate(all="ignore"):
                    is_held = self.moves | (np.abs(fill) <= HELD)
                    values[at] = np.where(is_held, fill, to_float64(values[at])).astype(values.dtype)
        return done

    def _differ(self, sides: tuple[Side, Side], made: Changed) -> bool:
        """One value of every pair becomes another one of its input."""
        order = sides if self.rng.integers(2) else sides[::-1]
        free = np.ones(order[0].how.size, bool)
        for side in order:
            rows = np.flatnonzero((side.how != NONE) & (side.how != RAW) & free)
            for number in np.unique(side.name[rows]).tolist():
                values = made[side.names[number]]
                at = side.at[rows[side.name[rows] == number]]
                values[at] = self.rng.choice(values, at.size)
            free[rows] = False
        return not free.all()

    def _ordered(self, one: Compared, sides: tuple[Side, Side], made: Changed, wanted: str) -> bool:
        """One side of every pair is moved past the other: the one that was read, or what it was computed of."""
        order = (0, 1) if self.rng.integers(2) else (1, 0)
        beyond, free = float(self.rng.choice(BEYOND)), np.ones(one.truth.size, bool)
        is_short = beyond < SHORT and self.rng.random() < FEW
        unit = max((_typical(values) for values in made.values()), default=1.0)
        for number in order:
            side, other = sides[number], sides[1 - number]
            sign = 1.0 if (wanted == "greater") == (number == 0) else -1.0
            sign *= -1.0 if is_short else 1.0
            with np.errstate(all="ignore"):
                goal = other.values + sign * beyond * np.where(other.values == 0, unit, np.abs(other.values))
            rows = np.flatnonzero((side.how != NONE) & free & np.isfinite(goal))
            with np.errstate(all="ignore"):
                side.put(made, rows, goal[rows], goal[rows].astype(np.int64).astype(np.uint64))
            free[rows] = False
            is_held = self.moves | (np.abs(goal) <= HELD)  # of what is computed: its inputs may be far smaller
            rows = np.flatnonzero(free & is_held & np.isfinite(goal) & np.isfinite(side.values))
            if rows.size and self._derived(one, side, rows, goal, made):
                free[rows] = False
        return not free.all()

    def _derived(
        self, one: Compared, side: Side, rows: npt.NDArray[np.int64], goal: npt.NDArray[np.float64], made: Changed
    ) -> bool:
        """Add the step that is missing to the values that a side was computed of, or scale them; else whole inputs."""
        if one.fixed[side.side]:
            return False
        way, root, done = int(self.rng.integers(3)), float(self.rng.choice(ROOTS)), False
        with np.errstate(all="ignore"):
            step, ratio = goal - side.values, np.abs(goal / side.values) ** root
        for values, at, of in one.elements(rows, made):
            if is_float(values.dtype) and at.size:
                with np.errstate(all="ignore"):
                    old = to_float64(values[at])
                    new = old + step[of] if way == 0 else old - step[of] if way == 1 else old * ratio[of]
                    values[at] = np.where(np.isfinite(new), new, old).astype(values.dtype)
                done = True
        if done and self.rng.random() > WHOLE:
            return True
        return self._whole(float(np.median(step[rows])), float(np.median(ratio[rows])), made) or done

    def _whole(self, step: float, ratio: float, made: Changed) -> bool:
        """Some whole inputs moved or scaled, or spread about the mean of each line."""
        names = [name for name in made if is_float(made[name].dtype) and made[name].size and self.rng.integers(2)]
        names = names or [name for name in made if is_float(made[name].dtype) and made[name].size][:1]
        way, ratio = int(self.rng.integers(3)), ratio if self.rng.integers(2) else 1 / max(ratio, LEAST)
        for name in names:
            shape = self.inputs[name].shape
            x = to_float64(made[name]).reshape(shape)
            with np.errstate(all="ignore"):
                middle = x.mean(axis=-1, keepdims=True) if x.ndim else x
                new = x + step if way == 0 else (x - middle) * ratio + middle if way == 1 else x * ratio
                fits = np.isfinite(new)
                made[name] = np.where(fits, new, x).astype(made[name].dtype).reshape(-1)
        return bool(names)


def _typical(x: Array) -> float:
    if not is_float(x.dtype) or not x.size:
        return 0.0
    size = np.abs(to_float64(x))
    return float(np.median(size[np.isfinite(size)])) if np.isfinite(size).any() else 0.0


def _wanted(relation: str, to: bool, rng: Rng) -> str:
    """The relation that both sides are to have; empty for a comparison that asks something else."""
    if relation in ("equal", "differ"):
        return relation if to else {"equal": "differ", "differ": "equal"}[relation]
    if relation not in ("less", "greater"):
        return ""
    if to:
        return relation
    return "equal" if rng.random() < FEW else {"less": "greater", "greater": "less"}[relation]
