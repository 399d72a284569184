"""Asks a task what an output of one case may be, where its reference rounds to integers on the way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from records.errors import TaskError
from tasks.compare import Match, compare
from tasks.loader import TASK_FAULTS
from tasks.roundings import Admitted
from tasks.task import Array, Case, Task, Tensors, TensorSpec


@dataclass(frozen=True)
class Answers:
    """The inputs of a case and the task's answers on them: float64, and the standard implementation's."""

    case: Case
    inputs: Tensors
    reference: Tensors
    baseline: Tensors


class Admission:
    """What the outputs of one case may be; the task is asked once for each ratio, and only where somebody asks."""

    def __init__(self, task: Task, inputs: Tensors, case: Case) -> None:
        """Ask nothing yet."""
        self._task, self._inputs, self._case = task, inputs, case
        self._answers: dict[float, dict[str, Tensors]] = {}

    def of(self, output: TensorSpec, ratio: float) -> Admitted | None:
        """Return what this output may be where values before a rounding are off by `ratio` times the standard's error.

        None where the reference alone is admitted.
        """
        if ratio not in self._answers:
            self._answers[ratio] = self._asked(ratio)
        families, name = self._answers[ratio], output.name
        if not families or any(name not in families.get(family, {}) for family in ("low", "high", "tied")):
            return None
        tied = families["tied"][name] if output.ties == "stated" else None
        return Admitted(families["low"][name], families["high"][name], tied)

    def _asked(self, ratio: float) -> dict[str, Tensors]:
        if self._task.admit is None:
            return {}
        try:
            return self._task.admit({name: np.array(x) for name, x in self._inputs.items()}, self._case, ratio)
        except (TaskError, *TASK_FAULTS):  # its text does not take arrays whose roundings are watched
            return {}


def compared(task: Task, output: TensorSpec, values: Array, answers: Answers) -> Match:
    """Compare an output, stored in its type, with the task's answers, by the task's tolerance."""
    tolerance = task.tolerance_of(output)
    admitted = partial(Admission(task, answers.inputs, answers.case).of, output, tolerance.ratio)
    want, base = answers.reference[output.name], answers.baseline[output.name]
    return compare(values, want, base, tolerance, admitted=admitted, explain=False)
