"""The shortcuts that a task's cases would let pass: with tests and input families as the judge uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from records.errors import TaskError
from tasks.admission import Answers, compared
from tasks.dtypes import is_float, to_float64
from tasks.exponentials import unseen_maxima
from tasks.held_out import affordable, cost
from tasks.loader import TASK_FAULTS
from tasks.own_check import refusal, stored
from tasks.shortcuts import Sample, Shortcut, planted
from tasks.structure import imposed
from tasks.task import Array, Case, Task, Tensors

LARGEST = 2.0**29  # operations plus bytes of a case that is computed to refuse a shortcut


class CasesOfTask:
    """A task's cases with their references, cheapest first, computed when they are needed."""

    def __init__(self, task: Task) -> None:
        """Draw nothing yet."""
        self._task = task
        self._computed: list[Sample] = []
        self._uncomputed = self._draws()

    def __iter__(self) -> Iterator[Sample]:
        """Yield all samples; those computed before are not computed again."""
        index = 0
        while True:
            while index < len(self._computed):
                yield self._computed[index]
                index += 1
            sample = next(self._uncomputed, None)
            if sample is None:
                return
            self._computed.append(sample)

    def _draws(self) -> Iterator[Sample]:
        task = self._task
        first = task.tests[0]
        yield self._sample(first.name, first, task.draw(first))
        if task.variants is not None:
            families = task.variants(task.draw(first), first, np.random.default_rng(first.seed + 1))
            for name, inputs in families.items():
                yield self._sample(f"{first.name} [{name}]", first, inputs)
        limit = max(LARGEST, *(cost(task, case.dims) for case in affordable(task)))
        for case in sorted(task.tests[1:], key=lambda c: cost(task, c.dims)):
            if cost(task, case.dims) <= limit:
                yield self._sample(case.name, case, task.draw(case))

    def _sample(self, name: str, case: Case, inputs: Tensors) -> Sample:
        return Sample(name, case, inputs, self._task.reference(inputs, case), self._task.baseline(inputs, case))


def passing_shortcuts(task: Task) -> Iterator[str]:
    """Yield a sentence for each shortcut that no case refuses."""
    cases = CasesOfTask(task)
    for shortcut in planted(task):
        if _passes_all(task, shortcut, cases) and not _is_the_operation(task, shortcut, cases):
            yield f"a kernel would pass that takes {shortcut.title}: give a test or a variant that refuses it"
    yield from _declared(task, cases)
    yield from unseen_maxima(task, list(cases))


def accepts(task: Task, sample: Sample, outputs: Mapping[str, Array]) -> bool:
    """Tell whether the judge would accept these outputs, stored in the outputs' types."""
    stored_outputs = stored(task, outputs)
    answers = Answers(sample.case, sample.inputs, sample.reference, sample.baseline)
    if not all(compared(task, spec, stored_outputs[spec.name], answers).correct for spec in task.outputs):
        return False
    return not refusal(task, sample.inputs, stored_outputs, sample.case)


def _passes_all(task: Task, shortcut: Shortcut, cases: CasesOfTask) -> bool:
    """Tell whether it fits some case and every case that it fits accepts it."""
    fits = False
    for sample in cases:
        try:
            answer = shortcut.answer(sample)
        except (TaskError, *TASK_FAULTS):  # the reference does not take such inputs, so no kernel gets away with them
            return False
        if answer is None:
            continue
        fits = True
        if not accepts(task, sample, answer):
            return False
    return fits


def _is_the_operation(task: Task, shortcut: Shortcut, cases: CasesOfTask) -> bool:
    """Tell whether the change makes no difference to the operation itself, as a permutation makes none to a sum.

    Then it makes none to the same values in another order either; an input that only happens to hide it does not stay
    as lucky.
    """
    rng = np.random.default_rng(0)
    for sample in cases:
        inputs = _shuffled(task, sample.inputs, rng) if shortcut.asks_the_reference else _redrawn(task, sample, rng)
        if inputs is None:
            return False
        try:
            other = replace(sample, inputs=inputs, reference=task.reference(inputs, sample.case))
        except (TaskError, *TASK_FAULTS):
            return False
        for trial in (sample, other):
            answer = shortcut.answer(trial)
            if answer is None:
                continue
            if not all(_agree(trial.reference[s.name], answer[s.name], shortcut.rounding) for s in task.outputs):
                return False
    return True


def _redrawn(task: Task, sample: Sample, rng: np.random.Generator) -> Tensors | None:
    """Draw numbers that owe nothing to the task's own; None where no input may be any number.

    A part of the output that stays as it is with them, such as zeros that no element of an input reaches, is no chance.
    """
    free = [s.name for s in task.inputs if s.name in sample.inputs and is_float(sample.inputs[s.name].dtype)]
    if not free or not task.mix or any(s.structure for s in task.inputs):
        return None
    new = {n: np.asarray(rng.standard_normal(sample.inputs[n].shape), sample.inputs[n].dtype) for n in free}
    return {**sample.inputs, **new}


def _shuffled(task: Task, inputs: Tensors, rng: np.random.Generator) -> Tensors:
    """Move the values to other places; integers, which may be places themselves, and what belongs together stay.

    Where a task declares a structure, kernels may rely on it, so the values keep to it.
    """
    shuffled = dict(inputs)
    for spec in task.inputs:
        if spec.name in inputs and is_float(inputs[spec.name].dtype) and (task.mix or spec.structure):
            x = inputs[spec.name]
            shuffled[spec.name] = imposed(rng.permutation(x.ravel()).reshape(x.shape), spec.structure)
    return shuffled


def _agree(first: Array, second: Array, rounding: float) -> bool:
    a, b = to_float64(first), to_float64(second)
    if not (np.isfinite(a) == np.isfinite(b)).all():
        return False
    finite = np.isfinite(a)
    top = float(np.abs(a[finite]).max(initial=0.0))
    return bool((np.abs(a - b)[finite] <= rounding * top).all())


def _declared(task: Task, cases: CasesOfTask) -> Iterator[str]:
    """Yield the task's own shortcuts; a name that only some cases give is looked for in those."""
    if task.shortcuts is None:
        return
    left: dict[str, bool] = {}  # True once a case has refused it
    for sample in cases:
        if left and all(left.values()):
            break
        with np.errstate(all="ignore"):
            answers = task.shortcuts(sample.inputs, sample.case)
        for name, answer in answers.items():
            if not left.get(name):
                left[name] = not accepts(task, sample, answer)
    for name, is_refused in left.items():
        if not is_refused:
            yield f"the task's own shortcut {name!r} passes every case: give a test or a variant that refuses it"
