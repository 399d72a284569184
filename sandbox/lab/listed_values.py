"""Inputs and reference of test and held-out cases, which the candidates of a run share: drawn and computed once."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from math import prod

import numpy as np

from records.computed_once import computed_once
from sandbox.cases.inputs.families import InputFamilies
from tasks.admission import Admission
from tasks.dtypes import numpy_dtype
from tasks.task import Array, Case, Task, Tensors

MOST_BYTES = 256 << 20  # of all that are kept

Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class Values:
    """One case, or one family of inputs on it."""

    task: Task
    families: InputFamilies
    case: Case
    variant: str | None

    @property
    def inputs(self) -> Tensors:
        """The inputs; copies, as a task's own code may write to what it gets."""
        return {name: values.copy() for name, values in self.drawn.items()}

    @computed_once
    def drawn(self) -> Tensors:
        """Draw the inputs, to be read only."""
        return self.families.draw(self.case, self.variant)

    @computed_once
    def reference(self) -> dict[str, Array]:
        """Compute the float64 outputs."""
        with np.errstate(all="ignore"):  # what overflows is compared like any other value
            return self.task.reference(self.inputs, self.case)

    @computed_once
    def baseline(self) -> dict[str, Array]:
        """Compute the outputs of the standard implementation."""
        with np.errstate(all="ignore"):
            return self.task.baseline(self.inputs, self.case)

    @computed_once
    def admission(self) -> Admission:
        """Ask what else the outputs may be, where somebody wants to know."""
        return Admission(self.task, self.drawn, self.case)

    @computed_once
    def nbytes(self) -> int:
        """Memory at most."""
        ours = sum(prod(self.task.shape_of(s, self.case)) * numpy_dtype(s.dtype).itemsize for s in self.task.inputs)
        return ours + sum(2 * 8 * prod(self.task.shape_of(s, self.case)) for s in self.task.outputs)


class ListedValues:
    """The values of a task's cases; the oldest make room."""

    def __init__(self, task: Task, families: InputFamilies | None = None) -> None:
        """`families`: others than the task's own."""
        self._task, self.families = task, families or InputFamilies(task)
        self._kept: dict[Key, Values] = {}
        self._nbytes = 0  # of them
        self._lock = threading.Lock()

    def of(self, case: Case, variant: str | None = None) -> Values:
        """Those of this case, whatever it is called: its dims and its seed decide."""
        arguments = tuple(sorted(case.scalars.items())), case.absent
        key = case.role, tuple(sorted(case.dims.items())), arguments, case.seed, variant
        with self._lock:
            if key not in self._kept:
                values = Values(self._task, self.families, case, variant)
                while self._kept and self._nbytes + values.nbytes > MOST_BYTES:
                    self._nbytes -= self._kept.pop(next(iter(self._kept))).nbytes
                self._kept[key] = values
                self._nbytes += values.nbytes
            return self._kept[key]
