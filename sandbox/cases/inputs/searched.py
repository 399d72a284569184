"""Inputs in search of what a candidate does rarely: made for it alone, around the numbers that it compares data with.

A clamp, a cut-off, a sentinel or the start of a running maximum is a number in the candidate's code. Each try changes
some inputs around one of these: it puts the number among them, makes them as large as it, or as its root, spreads a
line by it or moves it there. A try counts where reference and baseline bear it out, and is judged by the size of its
own outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from records.errors import TaskError
from sandbox.cases.inputs.families import WIDER, InputFamilies
from sandbox.cases.inputs.family_measures import UNITS
from sandbox.cases.inputs.held_lines import HELD, has_alike_lines, with_held_lines
from sandbox.cases.inputs.patterned import Rng
from sandbox.cases.inputs.planted_numbers import planted_number
from sandbox.cases.inputs.swept_values import FLUSHED
from tasks.admission import Answers, compared
from tasks.dtypes import is_float, numpy_dtype, spacing_at, to_float64
from tasks.error_measures import measures_of
from tasks.loader import TASK_FAULTS
from tasks.own_check import refusal, stored
from tasks.task import Array, Case, Tensors, TensorSpec
from tasks.tolerance import Tolerance

AROUND = (0.3, 10.0)  # times a number that values are made as large as
BEYOND = (0.9, 1.2)  # times it that values of a line lie below the line's largest
LOW, NEARLY = (1 / 64, 1 / 2, 63 / 64), 0.5  # shares of a line that lie below, and how far the others lie apart
MOVED_BY = 64.0  # times the largest value that a line is moved at most: sums of squares in one pass lose the square
ONE_SIGN = 1 / 2  # of the tries
FOREIGN = 1 / 8  # of the size of an output: a baseline that is off by more says nothing of what is right
SINGLE = 4  # bytes of a type whose values float32 holds
SWAYED = 8.0  # times what the last bits of the inputs sway an output that the baseline has exactly
CANCELLED = 2.0**-50  # of the largest input: what a reference in float64 may lose where its terms cancel
LEAST, FURTHEST = 2.0**-126, 3.4e38  # numbers beyond are ends of a type, which the families reach
PAST = (2.0**-6, 1.0)  # of a number that values of whole lines lie past it, as far as the type holds them
ALL, FIRST = 1 / 2, 6  # of such tries move all lines; the numbers at most that have such a try before any other

Step = Callable[[Array, float, Rng], Array]


class SearchedInputs(InputFamilies):
    """Families by the number of a try: "search 3"."""

    def __init__(self, families: InputFamilies, numbers: Sequence[float], secret: int) -> None:
        """Take the task's own `families`; `secret` goes into every choice."""
        super().__init__(families.task)
        self.families, self._secret = families, secret
        self._numbers = tuple(n for n in dict.fromkeys(numbers) if LEAST < abs(n) < FURTHEST)
        passed = [n for n in self._numbers if families.moves_values or abs(n) <= HELD]
        self._unusual = sorted(passed, key=lambda n: -abs(math.log(abs(n))))
        self._least: dict[tuple[str, str], float] = {}

    def draw(self, case: Case, family: str | None) -> Tensors:
        """Draw the inputs of a try: what is done is the try's, the values are the case's."""
        inputs: Tensors = self.task.draw(case)
        changed = self._changed(case, family, inputs)
        return self.task.restored(
            changed if self.families.moves_values else with_held_lines(changed, inputs), inputs, case
        )

    def _changed(self, case: Case, family: str | None, inputs: Tensors) -> Tensors:
        mine = [name for name in self.task.plant if name in inputs and inputs[name].size]
        if family is None or not mine or not self._numbers:
            return inputs
        number = int(family.rpartition(" ")[2])
        how = np.random.default_rng((self._secret, number))
        rng = np.random.default_rng((case.seed, 4))
        changed = dict(inputs)
        if number < min(FIRST, len(self._unusual)):
            for name in _some_names(mine, how):
                changed[name] = _sized(changed[name], 0.0, _past, self._unusual[number], rng)
            return changed
        self._size(changed, mine, float(self._numbers[int(how.integers(len(self._numbers)))]), how, rng)
        return changed

    def _size(self, changed: dict[str, Array], mine: list[str], number: float, how: Rng, rng: Rng) -> None:
        """Bring some inputs to the size of a number, or the number among them."""
        step, has_one_sign = STEPS[int(how.integers(len(STEPS)))], how.random() < ONE_SIGN
        is_lost = step in (_as_large, _as_root, _moved) and abs(number) > HELD  # products of roots are as large
        if (is_lost and not self.families.moves_values) or (step is _past and number not in self._unusual):
            step = planted_number
        for name in _some_names(mine, how):
            sign = -1.0 if how.integers(2) else 1.0
            input_step = step if is_float(changed[name].dtype) else planted_number
            changed[name] = _sized(changed[name], sign if has_one_sign else 0.0, input_step, number, rng)

    def is_sound(self, case: Case, family: str, inputs: Tensors, reference: Tensors, baseline: Tensors) -> bool:
        """Tell whether both know an answer on these inputs, agree on it, and so must any kernel; notes their size."""
        if not self.families.moves_values and has_alike_lines(inputs, self.task.plant):
            return False
        lost = CANCELLED * max((_largest(inputs[name]) for name in self.task.plant if name in inputs), default=0.0)
        answers = Answers(case, inputs, reference, baseline)
        for spec in self.task.outputs:
            dtype, want, base = numpy_dtype(spec.dtype), reference[spec.name], baseline[spec.name]
            with np.errstate(over="ignore", invalid="ignore"):
                fits = np.isfinite(to_float64(want.astype(dtype))).all()
                off = np.abs(to_float64(base) - to_float64(want)).ravel()
            if not fits or not compared(self.task, spec, base, answers).correct:
                return False
            size = measures_of(np.abs(to_float64(want)).ravel()).rms
            if measures_of(off).rms > FOREIGN * size > 0:  # squares that overflowed: every kernel makes others of them
                return False
            unit = (UNITS if dtype.itemsize >= 4 else 1.0) * spacing_at(size, dtype) if is_float(dtype) else 0.0
            is_exact = not off.any()  # as where terms cancel, by luck
            is_asked = is_float(dtype) and (is_exact or lost > unit)
            swayed = self._swayed(case, inputs, spec.name, want) if is_asked else 0.0
            may = min(lost, swayed or lost)  # of outputs that are small although no terms cancel nothing is lost
            self._least[family, spec.name] = max(unit, may, swayed * is_exact, FLUSHED) if is_float(dtype) else 0.0
        return not refusal(self.task, inputs, stored(self.task, baseline), case)

    def _swayed(self, case: Case, inputs: Tensors, name: str, want: Array) -> float:
        """Give how far an output is off where the float32 inputs are off by their last place; 0 where nobody knows."""
        rng, largest = np.random.default_rng((case.seed, 6)), 0.0
        floats = {
            input_name: inputs[input_name]
            for input_name in self.task.plant
            if input_name in inputs and is_float(inputs[input_name].dtype)
        }
        single = {input_name: x.astype(np.float32) for input_name, x in floats.items() if x.dtype.itemsize <= SINGLE}
        for has_one_way in (False, True):  # each value its own, and each input: few values may go the same by chance
            moved = dict(inputs)
            for number, (input_name, x) in enumerate(single.items()):
                up = np.full(x.shape, number % 2) if has_one_way else rng.integers(0, 2, x.shape)
                with np.errstate(over="ignore"):  # the last place of the largest number
                    moved[input_name] = np.nextafter(x, np.where(up, np.float32(np.inf), np.float32(-np.inf)))
            try:
                with np.errstate(all="ignore"):
                    off = np.abs(to_float64(self.task.reference(moved, case)[name]) - to_float64(want))
            except (TaskError, *TASK_FAULTS):
                return 0.0
            largest = max(largest, float(off.max(initial=0.0)) if np.isfinite(off).all() else 0.0)
        return SWAYED * largest

    def tolerance(self, output: TensorSpec, family: str | None) -> Tolerance:
        """Return the tolerance of a general family, but for outputs of this size."""
        tolerance = self.task.tolerance_of(output)
        if self.families.moves_values or family is None:
            return tolerance
        wider = None if tolerance.rtol is None else WIDER * tolerance.rtol
        least = self._least.get((family, output.name), 0.0)
        return replace(
            tolerance, ratio=WIDER * tolerance.ratio, rtol=wider, row_rtol=WIDER * tolerance.row_rtol, least=least
        )


def _sized(x: Array, sign: float, step: Step, number: float, rng: Rng) -> Array:
    """Take an input through one step; what its type does not hold stays as it was."""
    if not is_float(x.dtype):
        return step(x, number, rng)
    with np.errstate(all="ignore"):
        sized = step(np.where(to_float64(x) * sign < 0, -x, x), number, rng)
    return np.where(np.isfinite(to_float64(sized)), sized, x)


def _some_names(names: list[str], how: Rng) -> list[str]:
    """Choose each with the same chance, and one at least."""
    chosen = [name for name in names if how.integers(2)]
    return chosen or [names[int(how.integers(len(names)))]]


def _largest(x: Array) -> float:
    size = np.abs(to_float64(x))
    return float(size[np.isfinite(size)].max(initial=0.0))


def _around(number: float, rng: Rng) -> float:
    low, high = np.log(AROUND)
    return float(abs(number) * np.exp(rng.uniform(low, high)))


def _scaled_to(x: Array, size: float) -> Array:
    largest = _largest(x)
    if not largest or not is_float(x.dtype):
        return x
    return np.asarray((to_float64(x) * (size / largest)).astype(x.dtype))


def _as_large(x: Array, number: float, rng: Rng) -> Array:
    """Make all values as large as the number, or about that."""
    return _scaled_to(x, _around(number, rng))


def _as_root(x: Array, number: float, rng: Rng) -> Array:
    """Make all values as large as its root, for products of two."""
    return _scaled_to(x, float(np.sqrt(_around(number, rng))))


def _moved(x: Array, number: float, rng: Rng) -> Array:
    """Move every line by about the number, to either side."""
    if not is_float(x.dtype):
        return x
    by = min(_around(number, rng), MOVED_BY * _largest(x)) * (-1.0 if rng.integers(2) else 1.0)
    return np.asarray((to_float64(x) + by).astype(x.dtype))


def _past(x: Array, number: float, rng: Rng) -> Array:
    """Move whole lines farther from zero than the number, on its side: a running extreme that begins there stays."""
    if not x.ndim or not is_float(x.dtype):
        return x
    high = 1.0 + float(rng.choice(PAST))
    with np.errstate(over="ignore"):
        moved = np.asarray(number * rng.uniform(1.0, high, x.shape)).astype(x.dtype)
        least: Array = np.full(x.shape, number * (1 + 2.0**-7)).astype(x.dtype)
    moved = np.where(np.isfinite(to_float64(moved)), moved, least)
    is_moved = rng.random((*x.shape[:-1], 1)) < (1.0 if rng.random() < ALL else 0.5)
    return np.where(is_moved & np.isfinite(to_float64(moved)), moved, x)


def _spread(x: Array, number: float, rng: Rng) -> Array:
    """Move in each line few values, or half, or most below the others by about the number."""
    if not x.ndim or not is_float(x.dtype):
        return x
    is_low = rng.random(x.shape) < rng.choice(LOW, (*x.shape[:-1], 1))
    is_low[..., int(rng.integers(x.shape[-1]))] = False
    top = np.take_along_axis(x, np.argmax(to_float64(x), axis=-1)[..., None], axis=-1)
    below = np.where(is_low, np.abs(number) * rng.uniform(*BEYOND, x.shape), NEARLY * rng.random(x.shape))
    return np.asarray((to_float64(top) - below).astype(x.dtype))


STEPS: tuple[Step, ...] = (
    planted_number,
    planted_number,
    planted_number,
    _as_large,
    _as_root,
    _as_root,
    _moved,
    _spread,
    _past,
)
