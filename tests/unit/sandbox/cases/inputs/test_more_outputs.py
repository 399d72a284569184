"""A right kernel that adds few long sums in another order is right; one that adds in a narrow type is not."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.more_outputs import ENOUGH, MOST_DRAWS, has_few, more_outputs
from tasks.compare import compare
from tasks.loader import load_task
from tasks.task import Array
from tests.kernels.exploits.exploits import FOLDER

TASK = load_task(FOLDER / "tasks" / "group_sum")
CASE = replace(TASK.tests[0], name="n=3000,groups=8", dims={"n": 3000, "groups": 8}, role="held_out")


def sums(x: Array, start: Array, dtype: type) -> Array:
    """Group by group from the last value on."""
    pairs = pairwise(start)
    return np.array([np.add.accumulate(x[a:b][::-1].astype(dtype))[-1] if b > a else 0 for a, b in pairs], np.float32)


def test_few_outputs_are_compared_with_the_errors_of_more() -> None:
    families, tolerance = InputFamilies(TASK), TASK.tolerance_of(TASK.outputs[0])
    alone = together = 0
    for seed in range(40):
        case = replace(CASE, seed=seed)
        inputs = families.draw(case, None)
        reference, baseline = (outputs["s"] for outputs in TASK.expected(inputs, case))
        beside = more_outputs(families, case, None, "s")
        assert beside[0].size >= min(ENOUGH, MOST_DRAWS * reference.size) and beside[0].shape == beside[1].shape
        right, narrow = (sums(inputs["x"], inputs["start"], kind) for kind in (np.float32, np.float16))
        alone += not compare(right, reference, baseline, tolerance).correct
        together += not compare(right, reference, baseline, tolerance, beside=beside).correct
        assert not compare(narrow, reference, baseline, tolerance, beside=beside).correct
    assert alone > 0 and together == 0


def test_only_few_outputs_of_a_case_that_is_not_listed_ask_for_more() -> None:
    assert has_few(CASE, ENOUGH - 1) and not has_few(CASE, ENOUGH) and not has_few(CASE, 0)
    assert not has_few(TASK.tests[0], 3)
