"""Measures of a task, by its reference and its baseline on small cases: what its families of inputs rest on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from records.errors import TaskError
from sandbox.cases.inputs.changed import HARDEST, MAKERS, MOVED, OF_BYTES, TIED, Make, not_finite, peaked
from sandbox.cases.inputs.held_lines import has_alike_lines
from sandbox.cases.inputs.patterned import Rng
from sandbox.cases.inputs.swept_values import Range, binades_of
from tasks.admission import Answers, compared
from tasks.dtypes import is_float, numpy_dtype, spacing_at, to_float64
from tasks.held_out import SMALL, cost
from tasks.loader import TASK_FAULTS
from tasks.task import Array, Case, Task, Tensors

ONE_WAY = 1024.0  # units of a float32 output of these: one rounding after the other may go the same way
UNITS = 16.0  # of the last place of a float32 output that any element may be off
LONG = 1 << 18  # the cost of a case at most on which sums in order are tried
STRAYED = 16  # draws of it
FURTHER = 4.0  # times what they show
TRIED = 2  # cases on which a family is tried before it is used


class FamilyMeasures:
    """Computes with one task; each answer is the same whenever it is asked for."""

    def __init__(self, task: Task) -> None:
        """Draw nothing yet."""
        self.task = task

    def alike(self) -> list[str]:
        """Name the task's own families with lines whose values hardly differ."""
        families, variants = set[str](), self.task.variants
        for case in small_cases(self.task) if variants else ():
            assert variants is not None
            drawn = variants(self.task.draw(case), case, np.random.default_rng(case.seed + 1))
            families.update(name for name, inputs in drawn.items() if has_alike_lines(inputs, self.task.plant))
        return sorted(families)

    def units(self) -> dict[str, float]:
        """Give a few units of each output's type at the size that its values usually have."""
        units = dict.fromkeys((spec.name for spec in self.task.outputs), 0.0)
        for case in small_cases(self.task):
            reference = self.task.reference(self.task.draw(case), case)
            for spec in self.task.outputs:
                dtype, want = numpy_dtype(spec.dtype), to_float64(reference[spec.name])
                if is_float(dtype):
                    typical = float(np.sqrt(np.mean(np.square(want[np.isfinite(want)]))))
                    unit = (UNITS if dtype.itemsize >= 4 else 1.0) * spacing_at(typical, dtype)
                    units[spec.name] = max(units[spec.name], unit)
        return units

    def strays(self, change: Callable[[Tensors, Rng], Tensors]) -> dict[str, float]:
        """Give by output the error of sums in order on a long line of inputs changed so, where it is not rounding."""
        task, errors = self.task, {spec.name: 0.0 for spec in self.task.outputs}
        assert task.in_order is not None
        cheap = [test for test in task.tests if cost(task, test.dims) <= LONG]
        if not cheap:
            return errors
        case = max(cheap, key=lambda test: longest_line(task, test))
        grows = (
            FURTHER
            * max(longest_line(task, test) for test in (*task.tests, *task.benchmarks))
            / longest_line(task, case)
        )
        for number in range(STRAYED):
            inputs = change(task.draw(case), np.random.default_rng((number, 3)))
            try:
                with np.errstate(all="ignore"):
                    want, other = task.reference(inputs, case), task.in_order(inputs, case)
            except (TaskError, *TASK_FAULTS):
                return dict.fromkeys(errors, 0.0)
            for spec in task.outputs:
                dtype = numpy_dtype(spec.dtype)
                if is_float(dtype):
                    error = grows * _strayed(to_float64(want[spec.name]), to_float64(other[spec.name]), dtype)
                    errors[spec.name] = max(errors[spec.name], error)
        return errors

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Give for each general family the inputs that it may change."""
        moves = self.moves_values()
        left_out = set() if moves and self._is_blind() else {"not finite"} if moves else MOVED
        if not any(spec.ties == "stated" for spec in self.task.outputs):
            left_out = {*left_out, TIED}
        inputs_by_family = {name: self.borne_out(make) for name, make in MAKERS.items() if name not in left_out}
        for family, most in HARDEST.items():  # no outliers go beyond
            borne = set(self.borne_out(peaked(most))).intersection(self.borne_out(peaked(-most)))
            inputs_by_family[family] = tuple(name for name in inputs_by_family[family] if name in borne)
        return inputs_by_family

    def binades(self, moves_values: bool) -> dict[str, dict[str, Range]]:
        """Give by family and input the exponents that values may have."""
        return binades_of(self.task, small_cases(self.task), moves_values)

    def borne_out(self, make: Make) -> tuple[str, ...]:
        """Name the inputs with which reference and baseline agree when changed, each on its own and all together."""
        names = tuple(name for name in self._changed_by(make) if self._agrees((name,), make))
        return names if len(names) < 2 or self._agrees(names, make) else ()

    def _changed_by(self, make: Make) -> tuple[str, ...]:
        """Name the inputs that a change is meant for: of bytes only if it puts other bytes into other places."""
        packed = {spec.name for spec in self.task.inputs if not is_float(numpy_dtype(spec.dtype))}
        return tuple(name for name in self.task.plant if name not in packed or make in OF_BYTES)

    def _agrees(self, names: tuple[str, ...], make: Make) -> bool:
        return all(self._is_sound(case, names, make) for case in small_cases(self.task))

    def _is_sound(self, case: Case, names: tuple[str, ...], make: Make) -> bool:
        task, rng = self.task, np.random.default_rng((case.seed, 2))
        inputs = task.draw(case)
        changed: Tensors = {name: make(x, rng) if name in names else x for name, x in inputs.items()}
        try:
            with np.errstate(all="ignore"):
                changed = task.restored(changed, inputs, case)
                reference, baseline = task.reference(changed, case), task.baseline(changed, case)
        except (TaskError, *TASK_FAULTS):
            return False
        answers = Answers(case, changed, reference, baseline)
        for spec in task.outputs:
            want, base = reference[spec.name], baseline[spec.name]
            with np.errstate(over="ignore", invalid="ignore"):
                fits = np.isfinite(to_float64(want.astype(numpy_dtype(spec.dtype)))).all()
            if not (fits or make is not_finite) or not compared(task, spec, base, answers).correct:
                return False
        return True

    def moves_values(self) -> bool:
        """Tell whether every output value of a floating type is one of the inputs'."""
        for case in small_cases(self.task):
            inputs = self.task.draw(case)
            values = np.concatenate([to_float64(x).ravel() for x in inputs.values()])
            reference = self.task.reference(inputs, case)
            if not all(
                np.isin(reference[spec.name], values).all()
                for spec in self.task.outputs
                if is_float(numpy_dtype(spec.dtype))
            ):
                return False
        return True

    def _is_blind(self) -> bool:
        """Tell whether no value decides which of them an output holds: with other signs, they all have other signs."""
        for case in small_cases(self.task):
            inputs = self.task.draw(case)
            turned = {n: -x if n in self.task.plant and is_float(x.dtype) else x for n, x in inputs.items()}
            plain, mirrored = self.task.reference(inputs, case), self.task.reference(turned, case)
            if not all(
                np.array_equal(to_float64(plain[s.name]), -to_float64(mirrored[s.name])) for s in self.task.outputs
            ):
                return False
        return True


def small_cases(task: Task) -> list[Case]:
    """List the cheapest tests in which no input is a single number."""
    order = sorted(task.tests, key=lambda case: cost(task, case.dims))
    small = [case for case in order if cost(task, case.dims) <= SMALL] or order[:1]
    full = [c for c in small if all(max(task.shape_of(s, c)) > 1 for s in task.inputs_of(c) if s.shape)]
    return (full or small[-TRIED:])[:TRIED]


def _strayed(want: Array, other: Array, dtype: np.dtype[Any]) -> float:
    """Return the largest error of `other` where it is more than rounding to the output's type explains; else 0."""
    error = np.abs(other - want)
    finite = np.isfinite(error)
    largest, most = (float(part[finite].max(initial=0.0)) for part in (np.abs(want), error))
    rounding = ONE_WAY * spacing_at(largest, np.dtype(np.float32))
    return most if most > max(rounding, spacing_at(largest, dtype)) else 0.0


def longest_line(task: Task, case: Case) -> int:
    """Return the longest line of an input that may be changed."""
    return max(
        (task.shape_of(s, case)[-1] for s in task.inputs_of(case) if s.name in task.plant and s.shape), default=1
    )
