"""Checks that tasks have of their own, asked beside the comparison with the reference."""

from __future__ import annotations

import numpy as np

from records.errors import TaskError
from tasks.dtypes import numpy_dtype
from tasks.loader import TASK_FAULTS
from tasks.task import Case, Task, Tensors


def refusal(task: Task, inputs: Tensors, outputs: Tensors, case: Case) -> str:
    """Return what the task's own check says against these outputs, or its failure; empty where it accepts them."""
    if task.check is None:
        return ""
    try:
        with np.errstate(all="ignore"):
            right, message = task.check(inputs, outputs, case)
    except (TaskError, *TASK_FAULTS) as error:
        return f"the task's own check fails with {type(error).__name__}: {error}"
    return "" if right else message or "the task's own check refuses the outputs"


def own_check(task: Task, inputs: Tensors, outputs: Tensors, baseline: Tensors, case: Case) -> str:
    """Return the refusal of a candidate's outputs; empty, too, where the check refuses the baseline on these inputs.

    Most inputs are the judge's own. A bound such as `residual < 1e-4 * largest` has no right answer where all are zero.
    """
    message = refusal(task, inputs, outputs, case)
    return "" if message and refusal(task, inputs, stored(task, baseline), case) else message


def stored(task: Task, outputs: Tensors) -> Tensors:
    """Store outputs in the types that the task declares."""
    with np.errstate(over="ignore", invalid="ignore"):
        return {spec.name: outputs[spec.name].astype(numpy_dtype(spec.dtype)) for spec in task.outputs}
