"""Further families of inputs, made for any task: zeros, equal values, orders, outliers that its draws never hold.

A shortcut that is wrong only where an input holds a zero, or where a row begins and ends alike, passes every case of a
task whose draws hold none. So whatever the judge draws for itself has such values planted among it, and whole families
are made of it beside those that the task declares. A task's `plant` names the inputs that may be changed so; of them
only those are, for which reference and baseline bear it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from records.errors import TaskError
from tasks.changed_inputs import (
    EXCEPT,
    HARDEST,
    HARDLY,
    MAKERS,
    MOVED,
    NEAR,
    OF_BYTES,
    Make,
    not_finite,
    peaked,
    planted,
)
from tasks.compare import compare
from tasks.dtypes import is_float, numpy_dtype, spacing_at, to_float64
from tasks.held_lines import has_alike_lines
from tasks.held_out import SMALL, cost
from tasks.loader import TASK_FAULTS
from tasks.patterned_inputs import Rng
from tasks.scaled_inputs import FLUSHED, Scaling, scalings_of
from tasks.task import Array, Case, Task, Tensors, TensorSpec
from tasks.tolerance import Tolerance

WIDER = 16.0  # times the task's tolerance for families made here, whose rounding its standard does not stand for
ALIKE = frozenset(  # neighbours in a sum
    {"one value", "equal rows", EXCEPT, HARDLY, "sorted", "gathered", "laced", "sparse"}
)
EXACT_UNITS = 8.0  # of a float32 output on the task's own families, on which the standard may be exact: exp(-log(n))
ONE_WAY = 1024.0  # units of a float32 output of these: one rounding after the other may go the same way
UNITS = 16.0  # of the last place of a float32 output that any element may be off
LONG = 1 << 18  # the cost of a case at most on which sums in order are tried
STRAYED = 16  # draws of it
FURTHER = 4.0  # times what they show
TRIED = 2  # cases on which a family is tried before it is used
TOGETHER = " of all inputs"  # behind the name of a family that changes no fewer


@dataclass(frozen=True)
class InputChange:
    """One general family: what is done to which inputs, to some of them or to all."""

    make: Make
    inputs: tuple[str, ...]
    is_together: bool = False


class InputFamilies:
    """The families that the inputs of one task may come from."""

    def __init__(self, task: Task) -> None:
        """Nothing is drawn yet."""
        self.task = task
        self._strayed: dict[str, Mapping[str, float]] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All families: the task's own first."""
        return (*self.task.variant_names, *self._changes)

    @cached_property
    def together(self) -> Mapping[str, str]:
        """For each family that changes some of several inputs, the one that changes all of them in the same way."""
        return {name: name + TOGETHER for name in self._changes if name + TOGETHER in self._changes}

    def draw(self, case: Case, family: str | None) -> Tensors:
        """The inputs of a case, or of a family on it; but for a listed test, values are planted in what is drawn."""
        task = self.task
        inputs: Tensors = task.draw(case)
        rng = np.random.default_rng((case.seed, 1))
        if family in task.variant_names and task.variants is not None:
            return task.variants(inputs, case, np.random.default_rng(case.seed + 1))[family]
        if family is not None:
            return task.kept(_made(inputs, self._changes[family], rng), inputs, case)
        if case.role == "test":
            return inputs
        return task.kept(_made(inputs, InputChange(planted, self._planted, True), rng), inputs, case)

    def tolerance(self, output: TensorSpec, family: str | None) -> Tolerance:
        """The error that an output may have on inputs of this family."""
        own = self.task.tolerance_of(output)
        if self.moves_values:
            return own
        if family is None:
            return replace(own, least=max(own.least, FLUSHED))
        if family in self.task.wide:
            rtol = None if own.rtol is None else WIDER * own.rtol
            own = replace(own, ratio=WIDER * own.ratio, rtol=rtol, row_rtol=WIDER * own.row_rtol)
        if family in self.task.variant_names:
            exact = ONE_WAY if family in self._alike else EXACT_UNITS
            return replace(own, least=max(own.least, FLUSHED), units=max(own.units, exact))
        if family in self.scalings:
            return self.scalings[family].tolerance(output.name, own)
        wider = None if own.rtol is None else WIDER * own.rtol
        # A variance in one pass loses the square of what one in two passes does where values hardly differ.
        cancels = 1 / NEAR if family.removesuffix(TOGETHER) in (EXCEPT, HARDLY) else 1.0
        return replace(
            own,
            ratio=WIDER * cancels * own.ratio,
            rtol=wider,
            atol=WIDER * own.atol,
            row_rtol=WIDER * own.row_rtol,
            least=max(self._units[output.name], self._strays(family)[output.name]),
            units=ONE_WAY if family.removesuffix(TOGETHER) in ALIKE else own.units,
        )

    @cached_property
    def _alike(self) -> frozenset[str]:
        """The task's own families with lines whose values hardly differ: their roundings go one way, too."""
        found, variants = set[str](), self.task.variants
        for case in _cases(self.task) if variants else ():
            assert variants is not None
            made = variants(self.task.draw(case), case, np.random.default_rng(case.seed + 1))
            found.update(name for name, inputs in made.items() if has_alike_lines(inputs, self.task.plant))
        return frozenset(found)

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

    def _strays(self, family: str) -> Mapping[str, float]:
        """The error of sums in order on a long line of this family, where it is more than rounding: else 0."""
        if family not in self._strayed:
            is_measured = self.task.in_order is not None and family.removesuffix(TOGETHER) in ALIKE
            none = {spec.name: 0.0 for spec in self.task.outputs}
            self._strayed[family] = self._measured_strays(family) if is_measured else none
        return self._strayed[family]

    def _measured_strays(self, family: str) -> dict[str, float]:
        task, found = self.task, {spec.name: 0.0 for spec in self.task.outputs}
        assert task.in_order is not None
        cheap = [one for one in task.tests if cost(task, one.dims) <= LONG]
        if not cheap:
            return found
        case = max(cheap, key=lambda one: longest_line(task, one))
        grows = (
            FURTHER * max(longest_line(task, one) for one in (*task.tests, *task.benchmarks)) / longest_line(task, case)
        )
        for number in range(STRAYED):
            inputs = _made(task.draw(case), self._changes[family], np.random.default_rng((number, 3)))
            try:
                with np.errstate(all="ignore"):
                    want, other = task.reference(inputs, case), task.in_order(inputs, case)
            except (TaskError, *TASK_FAULTS):
                return dict.fromkeys(found, 0.0)
            for spec in task.outputs:
                dtype = numpy_dtype(spec.dtype)
                if is_float(dtype):
                    error = grows * _strayed(to_float64(want[spec.name]), to_float64(other[spec.name]), dtype)
                    found[spec.name] = max(found[spec.name], error)
        return found

    @cached_property
    def _planted(self) -> tuple[str, ...]:
        return self._borne_out(planted)

    @cached_property
    def _changes(self) -> Mapping[str, InputChange]:
        """The general families: each changes some inputs, and where there are several a second one changes them all."""
        if not self.task.plant:
            return {}
        moves = self.moves_values
        left_out = set() if moves and self._is_blind() else {"not finite"} if moves else MOVED
        found = {name: self._borne_out(make) for name, make in MAKERS.items() if name not in left_out}
        for family, most in HARDEST.items():  # no outliers go beyond
            borne = set(self._borne_out(peaked(most))).intersection(self._borne_out(peaked(-most)))
            found[family] = tuple(name for name in found[family] if name in borne)
        some = {name: InputChange(MAKERS[name], inputs) for name, inputs in found.items() if inputs}
        several = {name + TOGETHER: replace(one, is_together=True) for name, one in some.items() if len(one.inputs) > 1}
        scaled = {name: InputChange(one.scale, one.inputs, True) for name, one in self.scalings.items()}
        return {**some, **several, **scaled}

    @cached_property
    def scalings(self) -> Mapping[str, Scaling]:
        """By name the families that scale inputs by a power of two, where something is computed with these."""
        return {} if self.moves_values else scalings_of(self.task, _cases(self.task))

    def _borne_out(self, make: Make) -> tuple[str, ...]:
        """The inputs for which reference and baseline agree on what is changed, each on its own and all together."""
        names = tuple(name for name in self._changed_by(make) if self._agrees((name,), make))
        return names if len(names) < 2 or self._agrees(names, make) else ()

    def _changed_by(self, make: Make) -> tuple[str, ...]:
        """The inputs that a change is meant for: of bytes only those that put other bytes into other places."""
        packed = {spec.name for spec in self.task.inputs if not is_float(numpy_dtype(spec.dtype))}
        return tuple(name for name in self.task.plant if name not in packed or make in OF_BYTES)

    def _agrees(self, names: tuple[str, ...], make: Make) -> bool:
        return all(self._is_sound(case, names, make) for case in _cases(self.task))

    def _is_sound(self, case: Case, names: tuple[str, ...], make: Make) -> bool:
        task, rng = self.task, np.random.default_rng((case.seed, 2))
        inputs = task.draw(case)
        changed: Tensors = {name: make(x, rng) if name in names else x for name, x in inputs.items()}
        try:
            with np.errstate(all="ignore"):
                changed = task.kept(changed, inputs, case)
                reference, baseline = task.reference(changed, case), task.baseline(changed, case)
        except (TaskError, *TASK_FAULTS):
            return False
        for spec in task.outputs:
            want, base = reference[spec.name], baseline[spec.name]
            with np.errstate(over="ignore", invalid="ignore"):
                fits = np.isfinite(to_float64(want.astype(numpy_dtype(spec.dtype)))).all()
            if (
                not (fits or make is not_finite)
                or not compare(base, want, base, task.tolerance_of(spec), explain=False).correct
            ):
                return False
        return True

    @cached_property
    def moves_values(self) -> bool:
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

    def _is_blind(self) -> bool:
        """True where no value decides which of them an output holds: with other signs, they all have other signs."""
        for case in _cases(self.task):
            inputs = self.task.draw(case)
            turned = {n: -x if n in self.task.plant and is_float(x.dtype) else x for n, x in inputs.items()}
            one, other = self.task.reference(inputs, case), self.task.reference(turned, case)
            if not all(np.array_equal(to_float64(one[s.name]), -to_float64(other[s.name])) for s in self.task.outputs):
                return False
        return True


def _cases(task: Task) -> list[Case]:
    """The cheapest tests in which no input is a single number."""
    order = sorted(task.tests, key=lambda case: cost(task, case.dims))
    small = [case for case in order if cost(task, case.dims) <= SMALL] or order[:1]
    full = [c for c in small if all(max(task.shape_of(s, c)) > 1 for s in task.inputs_of(c) if s.shape)]
    return (full or small[-TRIED:])[:TRIED]


def _strayed(want: Array, other: Array, dtype: np.dtype[Any]) -> float:
    """The largest error of `other` where it is more than rounding to the output's type explains; else 0."""
    error = np.abs(other - want)
    known = np.isfinite(error)
    largest, most = (float(part[known].max(initial=0.0)) for part in (np.abs(want), error))
    rounding = ONE_WAY * spacing_at(largest, np.dtype(np.float32))
    return most if most > max(rounding, spacing_at(largest, dtype)) else 0.0


def longest_line(task: Task, case: Case) -> int:
    """The longest line of an input that may be changed."""
    return max(
        (task.shape_of(s, case)[-1] for s in task.inputs_of(case) if s.name in task.plant and s.shape), default=1
    )


def _made(inputs: Tensors, change: InputChange, rng: Rng) -> Tensors:
    """The inputs with some of these changed, at least one, or all."""
    mine = [name for name in change.inputs if name in inputs]
    if not mine:
        return inputs
    count = len(mine) if change.is_together else int(rng.integers(1, len(mine) + 1))
    chosen = set(rng.permutation(mine)[:count])
    return {name: change.make(x, rng) if name in chosen else x for name, x in inputs.items()}
