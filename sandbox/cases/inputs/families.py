"""Further families of inputs, made for any task: zeros, equal values, orders, outliers that its draws never hold.

A shortcut that is wrong only where an input holds a zero, or where a row begins and ends alike, passes every case of a
task whose draws hold none. So whatever the judge draws for itself has such values planted among it, and whole families
are made of it beside those that the task declares. A task's `plant` names the inputs that may be changed so; of them
only those are, for which reference and baseline bear it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from records.computed_once import computed_once
from sandbox.cases.inputs.changed import EXCEPT, HARDLY, MAKERS, NEAR, Make, planted
from sandbox.cases.inputs.family_measures import ONE_WAY, FamilyMeasures, small_cases
from sandbox.cases.inputs.independence import independent_dims
from sandbox.cases.inputs.kept_facts import KeptFacts
from sandbox.cases.inputs.patterned import Rng
from sandbox.cases.inputs.swept_values import AS_DRAWN, FLUSHED, ONE_SIZE, VALUES, Ranges, drawn_swept
from tasks.dtypes import numpy_dtype
from tasks.task import Array, Case, Task, Tensors, TensorSpec
from tasks.tolerance import Tolerance

WIDER = 16.0  # times the task's tolerance for families made here, whose rounding its standard does not stand for
ALIKE = frozenset(  # neighbours in a sum
    {"one value", "equal rows", EXCEPT, HARDLY, "sorted", "gathered", "laced", "sparse"}
)
SAME_SIZE, SAME_SIZE_UNITS = 4.0, 64.0  # times the tolerance, and units, for values of one size
EXACT_UNITS = 8.0  # of a float32 output on the task's own families, on which the standard may be exact: exp(-log(n))
ROW_UNITS = 4.0  # of a row's largest value, where an output has the shape of an input that may have peaks
TOGETHER = " of all inputs"  # behind the name of a family that changes no fewer


@dataclass(frozen=True)
class InputChange:
    """One general family: what is done to which inputs, to some of them or to all."""

    make: Make
    inputs: tuple[str, ...]
    is_together: bool = False


class InputFamilies:
    """The families that the inputs of one task may come from."""

    def __init__(self, task: Task, facts: Path | None = None) -> None:
        """Draw nothing yet; `facts` is a folder for what is measured of the task."""
        self.task = task
        self._measures = FamilyMeasures(task)
        self._facts = KeptFacts(task, lambda: small_cases(task), facts)

    @computed_once
    def names(self) -> tuple[str, ...]:
        """Name all families: the task's own first."""
        return (*self.task.variant_names, *self._changes, *self.ranges)

    @computed_once
    def together(self) -> Mapping[str, str]:
        """Give for each family that changes some of several inputs the one that changes all in the same way."""
        return {name: name + TOGETHER for name in self._changes if name + TOGETHER in self._changes}

    def draw(self, case: Case, family: str | None) -> Tensors:
        """Draw the inputs of a case, or of a family on it; but for a listed test, values are planted in them."""
        task = self.task
        if family in (AS_DRAWN, *VALUES):
            return drawn_swept(task, case, str(family), self.ranges, moves_values=self.moves_values)
        inputs: Tensors = task.draw(case)
        rng = np.random.default_rng((case.seed, 1))
        if family in task.variant_names and task.variants is not None:
            return task.variants(inputs, case, np.random.default_rng(case.seed + 1))[family]
        if family is not None:
            return task.restored(_changed(self._changes[family], inputs, rng), inputs, case)
        if case.role == "test":
            return inputs
        return task.restored(_changed(InputChange(planted, self._planted, True), inputs, rng), inputs, case)

    def typed(self, case: Case, family: str | None) -> dict[str, Array]:
        """Draw the same in the types that the task declares, of the inputs that the case gives."""
        inputs = self.draw(case, family)
        return {s.name: np.asarray(inputs[s.name], dtype=numpy_dtype(s.dtype)) for s in self.task.inputs_of(case)}

    def tolerance(self, output: TensorSpec, family: str | None) -> Tolerance:
        """Return the error that an output may have on inputs of this family."""
        tolerance = self.task.tolerance_of(output)
        if self.moves_values:
            return tolerance
        if any(spec.name in self.task.plant and spec.shape == output.shape for spec in self.task.inputs):
            tolerance = replace(tolerance, row_units=ROW_UNITS)
        if family is None or family == AS_DRAWN:
            return replace(tolerance, least=max(tolerance.least, FLUSHED))
        if family == ONE_SIZE:
            units = max(tolerance.units, SAME_SIZE_UNITS)
            return replace(_wider(tolerance, SAME_SIZE), least=max(tolerance.least, FLUSHED), units=units)
        if family in VALUES:
            return replace(_wider(tolerance), least=max(tolerance.least, FLUSHED), units=ONE_WAY)
        if family in self.task.wide:
            tolerance = _wider(tolerance)
        if family in self.task.variant_names:
            exact = ONE_WAY if family in self._alike else EXACT_UNITS
            return replace(tolerance, least=max(tolerance.least, FLUSHED), units=max(tolerance.units, exact))
        # A variance in one pass loses the square of what one in two passes does where values hardly differ.
        cancels = 1 / NEAR if family.removesuffix(TOGETHER) in (EXCEPT, HARDLY) else 1.0
        wider = _wider(tolerance)
        return replace(
            wider,
            ratio=cancels * wider.ratio,
            atol=WIDER * tolerance.atol,
            least=max(self._units[output.name], self._strays(family)[output.name]),
            units=ONE_WAY if family.removesuffix(TOGETHER) in ALIKE else tolerance.units,
        )

    @computed_once
    def _alike(self) -> frozenset[str]:
        """Name the task's own families with lines whose values hardly differ: their roundings go one way, too."""
        return frozenset(self._facts.get("alike", self._measures.alike))

    @computed_once
    def _units(self) -> Mapping[str, float]:
        """Give a few units of each output's type at its values' usual size: a family may leave zeros only."""
        return self._facts.get("units", self._measures.units)

    def _strays(self, family: str) -> Mapping[str, float]:
        """Give the error of sums in order on a long line of this family, where it is more than rounding: else 0."""
        if self.task.in_order is None or family.removesuffix(TOGETHER) not in ALIKE:
            return {spec.name: 0.0 for spec in self.task.outputs}
        change = self._changes[family]
        return self._facts.get(f"strays: {family}", lambda: self._measures.strays(partial(_changed, change)))

    @computed_once
    def _planted(self) -> tuple[str, ...]:
        return tuple(self._facts.get("planted", lambda: self._measures.borne_out(planted)))

    @computed_once
    def _changes(self) -> Mapping[str, InputChange]:
        """Return the general families: each changes some inputs; where there are several a second one changes all."""
        if not self.task.plant:
            return {}
        inputs_by_family = self._facts.get("changed", self._measures.changes)
        some = {name: InputChange(MAKERS[name], tuple(inputs)) for name, inputs in inputs_by_family.items() if inputs}
        several = {
            name + TOGETHER: replace(change, is_together=True)
            for name, change in some.items()
            if len(change.inputs) > 1
        }
        return {**some, **several}

    @computed_once
    def ranges(self) -> Ranges:
        """Give by family of `VALUES` and input the exponents that its values may have."""
        binades = self._facts.get("binades", lambda: self._measures.binades(self.moves_values))
        return {family: {name: (ends[0], ends[1]) for name, ends in of.items()} for family, of in binades.items()}

    @computed_once
    def independent(self) -> tuple[str, ...]:
        """Name the dims along which elements do not depend on one another."""
        return tuple(self._facts.get("independent", lambda: [dim.name for dim in independent_dims(self.task)]))

    @computed_once
    def moves_values(self) -> bool:
        """Tell whether every output value of a floating type is one of the inputs': nothing is computed with them."""
        return self._facts.get("moves values", self._measures.moves_values)


def _wider(tolerance: Tolerance, times: float = WIDER) -> Tolerance:
    """Widen the tolerance for families for whose rounding the task's standard does not stand."""
    rtol = None if tolerance.rtol is None else times * tolerance.rtol
    return replace(tolerance, ratio=times * tolerance.ratio, rtol=rtol, row_rtol=times * tolerance.row_rtol)


def _changed(change: InputChange, inputs: Tensors, rng: Rng) -> Tensors:
    """Change some of these inputs, at least one, or all."""
    mine = [name for name in change.inputs if name in inputs]
    if not mine:
        return inputs
    count = len(mine) if change.is_together else int(rng.integers(1, len(mine) + 1))
    chosen = set(rng.permutation(mine)[:count])
    return {name: change.make(x, rng) if name in chosen else x for name, x in inputs.items()}
