"""Further families of inputs, made for any task: zeros, equal values, orders, outliers that its draws never hold.

A shortcut that is wrong only where an input holds a zero, or where a row begins and ends alike, passes every case of a
task whose draws hold none. So whatever the judge draws for itself has such values planted among it, and whole families
are made of it beside those that the task declares. A task's `plant` names the inputs that may be changed so; of them
only those are, for which reference and baseline bear it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from records.errors import TaskError
from tasks.compare import compare
from tasks.dtypes import is_float, numpy_dtype, spacing_at, to_float64
from tasks.held_out import SMALL, cost
from tasks.loader import TASK_FAULTS
from tasks.task import Array, Case, Task, Tensors, TensorSpec
from tasks.tolerance import Tolerance

PLANTED_SHARE = 3  # one in so many lines of an axis gets planted values
FROM_OTHERS = 4096  # elements of a row for each that may come from another row: fewer than the errors' percentile shows
WIDER = 16.0  # times the task's tolerance for families made here, whose rounding its standard does not stand for
UNITS = 16.0  # of the last place of a float32 output that any element may be off
TRIED = 2  # cases on which a family is tried before it is used
LEAST = 1e-38  # about the least normal float32; what `extremes` holds lies on both sides of it
MOST = 1e38
HARDEST = 128.0  # times a line's largest value, which a task must bear for outliers of up to 64 times any value
FAR = 0.25  # of the lines hold nothing but values near the least

Rng = np.random.Generator
Make = Callable[[Array, Rng], Array]


class InputFamilies:
    """The families that the inputs of one task may come from."""

    def __init__(self, task: Task) -> None:
        """Nothing is drawn yet."""
        self.task = task

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All families: the task's own first."""
        return (*self.task.variant_names, *(name for name, inputs in self._changed.items() if inputs))

    def draw(self, case: Case, family: str | None) -> Tensors:
        """The inputs of a case, or of a family on it; but for a listed test, values are planted in what is drawn."""
        task = self.task
        inputs: Tensors = task.draw(case)
        rng = np.random.default_rng((case.seed, 1))
        if family in task.variant_names and task.variants is not None:
            return task.variants(inputs, case, np.random.default_rng(case.seed + 1))[family]
        if family is not None:
            return _made(inputs, self._changed[family], MAKERS[family], rng)
        return inputs if case.role == "test" else _made(inputs, self._planted, planted, rng)

    def tolerance(self, output: TensorSpec, family: str | None) -> Tolerance:
        """The error that an output may have on inputs of this family."""
        own = self.task.tolerance_of(output)
        if family is None or family in self.task.variant_names:
            return own
        wider = None if own.rtol is None else WIDER * own.rtol
        return replace(
            own,
            ratio=WIDER * own.ratio,
            rtol=wider,
            atol=WIDER * own.atol,
            row_rtol=WIDER * own.row_rtol,
            least=self._units[output.name],
        )

    @cached_property
    def _units(self) -> Mapping[str, float]:
        """A few units of each output's type at the size that its values usually have: a family may leave zeros only."""
        found = dict.fromkeys((spec.name for spec in self.task.outputs), 0.0)
        for case in _cases(self.task):
            reference = self.task.reference(self.task.draw(case), case)
            for spec in self.task.outputs:
                dtype, want = numpy_dtype(spec.dtype), to_float64(reference[spec.name])
                if is_float(dtype):
                    typical = float(np.sqrt(np.mean(np.square(want[np.isfinite(want)]))))
                    unit = (UNITS if dtype.itemsize >= 4 else 1.0) * spacing_at(typical, dtype)
                    found[spec.name] = max(found[spec.name], unit)
        return found

    @cached_property
    def _planted(self) -> tuple[str, ...]:
        return self._borne_out(planted)

    @cached_property
    def _changed(self) -> Mapping[str, tuple[str, ...]]:
        """The inputs that each of the general families changes."""
        if not self.task.plant:
            return {}
        moves = self._moves_values()
        found = {name: self._borne_out(make) for name, make in MAKERS.items() if moves or name != "extremes"}
        hardest = set(self._borne_out(_up)).intersection(self._borne_out(_down))  # no draw of outliers goes beyond
        return {**found, "outliers": tuple(name for name in found["outliers"] if name in hardest)}

    def _borne_out(self, make: Make) -> tuple[str, ...]:
        """The inputs for which reference and baseline agree on what is changed, each on its own and all together."""
        names = tuple(name for name in self.task.plant if self._agrees((name,), make))
        return names if len(names) < 2 or self._agrees(names, make) else ()

    def _agrees(self, names: tuple[str, ...], make: Make) -> bool:
        return all(self._is_sound(case, names, make) for case in _cases(self.task))

    def _is_sound(self, case: Case, names: tuple[str, ...], make: Make) -> bool:
        task, rng = self.task, np.random.default_rng((case.seed, 2))
        inputs = task.draw(case)
        changed = {name: make(x, rng) if name in names else x for name, x in inputs.items()}
        try:
            with np.errstate(all="ignore"):
                reference, baseline = task.reference(changed, case), task.baseline(changed, case)
        except (TaskError, *TASK_FAULTS):
            return False
        for spec in task.outputs:
            want, base = reference[spec.name], baseline[spec.name]
            with np.errstate(over="ignore", invalid="ignore"):
                fits = np.isfinite(to_float64(want.astype(numpy_dtype(spec.dtype)))).all()
            if not fits or not compare(base, want, base, task.tolerance_of(spec), explain=False).correct:
                return False
        return True

    def _moves_values(self) -> bool:
        """True where every output value of a floating type is one of the inputs': nothing is computed with them."""
        for case in _cases(self.task):
            inputs = self.task.draw(case)
            given = np.concatenate([to_float64(x).ravel() for x in inputs.values()])
            reference = self.task.reference(inputs, case)
            if not all(
                np.isin(reference[spec.name], given).all()
                for spec in self.task.outputs
                if is_float(numpy_dtype(spec.dtype))
            ):
                return False
        return True


def _cases(task: Task) -> list[Case]:
    """The cheapest tests in which no input is a single number."""
    order = sorted(task.tests, key=lambda case: cost(task, case.dims))
    small = [case for case in order if cost(task, case.dims) <= SMALL] or order[:1]
    full = [c for c in small if all(max(task.shape_of(s, c)) > 1 for s in task.inputs_of(c) if s.shape)]
    return (full or small[-TRIED:])[:TRIED]


def _made(inputs: Tensors, names: tuple[str, ...], make: Make, rng: Rng) -> Tensors:
    """The inputs with some of these changed, at least one."""
    mine = [name for name in names if name in inputs]
    if not mine:
        return inputs
    chosen = set(rng.permutation(mine)[: int(rng.integers(1, len(mine) + 1))]) if make is not planted else set(mine)
    return {name: make(x, rng) if name in chosen else x for name, x in inputs.items()}


def planted(x: Array, rng: Rng) -> Array:
    """The same values with zeros, equal neighbours, a second largest and equal ends in some lines of each axis.

    No value leaves the range that its row has, and few of a row come from other rows: a row of parts that no draw of
    the task puts together has elements for whose errors the task's tolerance does not stand.
    """
    made = np.array(x)
    along = next((axis for axis in reversed(range(x.ndim)) if x.shape[axis] > 1), None)
    if along is None:
        return made
    low, high = (np.broadcast_to(of(axis=along, keepdims=True), x.shape) for of in (x.min, x.max))
    for axis, size in enumerate(made.shape):
        if size > 1:
            most = x.size if axis == along else max(1, x.shape[along] // FROM_OTHERS)
            _plant(*(np.moveaxis(part, axis, -1) for part in (made, low, high)), most=most, rng=rng)
    return made


def _plant(lines: Array, low: Array, high: Array, *, most: int, rng: Rng) -> None:
    """Change at most so many lines, which lie along the last axis, in each way."""
    size, count = lines.shape[-1], int(np.prod(lines.shape[:-1]))
    number = max(1, count // PLANTED_SHARE // max(1, lines.ndim - 1))
    for change in (_zero, _tie, _second_largest, _ends):
        chosen = rng.choice(count, min(count, most, max(1, number // 4)), replace=False)
        rows = np.unravel_index(chosen, lines.shape[:-1]) if lines.ndim > 1 else ()
        old = lines[rows]
        new = np.array(old).reshape(-1, size)
        change(new, rng)
        kept = np.reshape(new, old.shape)
        lines[rows] = np.where((kept >= low[rows]) & (kept <= high[rows]), kept, old)


def _zero(rows: Array, rng: Rng) -> None:
    each = np.arange(len(rows))
    rows[each, rng.integers(rows.shape[1], size=len(rows))] = -0.0
    rows[each, rng.integers(rows.shape[1], size=len(rows))] = 0


def _tie(rows: Array, rng: Rng) -> None:
    at, each = rng.integers(rows.shape[1] - 1, size=len(rows)), np.arange(len(rows))
    rows[each, at + 1] = rows[each, at]


def _second_largest(rows: Array, rng: Rng) -> None:
    each = np.arange(len(rows))
    rows[each, rng.integers(rows.shape[1], size=len(rows))] = rows[each, rows.argmax(axis=1)]


def _ends(rows: Array, rng: Rng) -> None:
    rows[:, -1] = rows[:, 0]


def _zeros(x: Array, rng: Rng) -> Array:
    return np.where(rng.random(x.shape) < 0.5, np.zeros((), x.dtype), x)


def _whole(x: Array, rng: Rng) -> Array:
    return np.asarray(np.clip(np.rint(to_float64(x)), -8, 8).astype(x.dtype))


def _equal(x: Array, rng: Rng) -> Array:
    return np.array(np.broadcast_to(x[..., :1], x.shape)) if x.ndim else x


def _one_value(x: Array, rng: Rng) -> Array:
    return np.full_like(x, x.flat[int(rng.integers(x.size))])


def _sorted(x: Array, rng: Rng) -> Array:
    """Each line ascending or descending."""
    if not x.ndim:
        return x
    order = np.argsort(to_float64(x), axis=-1)
    turned = rng.random((*x.shape[:-1], 1)) < 0.5
    return np.take_along_axis(x, np.where(turned, order[..., ::-1], order), axis=-1)


def _permuted(x: Array, rng: Rng) -> Array:
    """The values of each line in another order."""
    return rng.permuted(x, axis=-1) if x.ndim else x


def _outliers(x: Array, rng: Rng) -> Array:
    """In each line one value 16 to 64 times as large as drawn."""
    if not x.ndim:
        return x
    made, places = np.array(x), rng.integers(x.shape[-1], size=(*x.shape[:-1], 1))
    larger = to_float64(np.take_along_axis(made, places, axis=-1)) * rng.uniform(16, 64, places.shape)
    np.put_along_axis(made, places, larger.astype(x.dtype), axis=-1)
    return made


def _up(x: Array, rng: Rng) -> Array:
    """Each line's largest value far above what an outlier is, however much larger a draw of more elements may be."""
    return _peaked(x, HARDEST)


def _down(x: Array, rng: Rng) -> Array:
    return _peaked(x, -HARDEST)


def _peaked(x: Array, factor: float) -> Array:
    if not x.ndim:
        return x
    made, size = np.array(x), np.abs(to_float64(x))
    places = size.argmax(axis=-1)[..., None]
    peaks = factor * np.take_along_axis(size, places, axis=-1)
    with np.errstate(over="ignore"):
        np.put_along_axis(made, places, peaks.astype(x.dtype), axis=-1)
    return made


def _extremes(x: Array, rng: Rng) -> Array:
    """Values at both ends of float32's range, denormal ones and zeros among what was drawn; some lines far below."""
    kinds = np.array([MOST, -MOST, LEAST, -LEAST, LEAST / 64, -LEAST / 64, -0.0, 0.0])
    with np.errstate(over="ignore"):
        chosen = rng.choice(kinds, x.shape) * rng.uniform(1, 3, x.shape)
        is_far = rng.random((*x.shape[:-1], 1)) < FAR if x.ndim else np.zeros((), bool)
        chosen = np.where(is_far, -MOST * rng.uniform(0.1, 3, x.shape), chosen)
        made = chosen.astype(x.dtype)
    return np.where(((rng.random(x.shape) < 0.5) | is_far) & np.isfinite(to_float64(made)), made, x)


MAKERS: Mapping[str, Make] = {
    "zeros": _zeros,
    "whole numbers": _whole,
    "equal rows": _equal,
    "one value": _one_value,
    "sorted": _sorted,
    "permuted": _permuted,
    "outliers": _outliers,
    "extremes": _extremes,
}
