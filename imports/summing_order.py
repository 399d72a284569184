"""The tolerance of an imported task in which sums may be taken in any order."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from tasks.admission import Admission
from tasks.compare import compare
from tasks.task import Task

NARROW, WIDE = 2.0, 16.0  # times the standard implementation's error: what most tasks have, and what any may have
DRAWS = 3  # of each test


def ratio_of(task: Task) -> float:
    """Find the power of two times the standard implementation's error that a loop over each sum keeps to, at most 16.

    NumPy adds in pairs: on a line of thousands its error is a fraction of a loop's, which is as right a kernel.
    """
    most = NARROW
    for listed in task.tests if task.in_order is not None else ():
        for number in range(DRAWS):
            case = replace(listed, seed=listed.seed + number)
            inputs = task.draw(case)
            reference, baseline = task.expected(inputs, case)
            admission = Admission(task, inputs, case)
            assert task.in_order is not None
            added = task.in_order(inputs, case)
            for spec in task.outputs:
                tolerance = replace(task.tolerance_of(spec), rtol=None)
                admitted = partial(admission.of, spec, tolerance.ratio)
                values = added[spec.name], reference[spec.name], baseline[spec.name]
                comparison = compare(*values, tolerance, admitted=admitted, explain=False)
                most = max(most, comparison.error)
    return min(WIDE, 2.0 ** math.ceil(math.log2(most * 1.25))) if most > NARROW else NARROW
