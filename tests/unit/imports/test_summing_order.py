"""The tolerance of an imported task lets sums be taken in any order, and no more than that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from imports.summing_order import NARROW, WIDE, ratio_of
from tasks.compare import compare
from tasks.loader import load_task
from tasks.task import Task

OWN = Path(__file__).resolve().parents[3] / "benchmarks" / "kernels" / "own"


def narrow(task: Task) -> Task:
    """The same task with the tolerance that most have."""
    return replace(
        task,
        tolerance=replace(task.tolerance, ratio=NARROW),
        outputs=tuple(replace(s, tolerance=None) for s in task.outputs),
    )


def test_a_loop_over_each_sum_is_within_it() -> None:
    task = narrow(load_task(OWN / "layer_norm"))
    ratio = ratio_of(task)
    assert NARROW < ratio <= WIDE
    assert task.in_order is not None
    for case in task.tests:
        inputs = task.draw(case)
        reference, baseline = task.expected(inputs, case)
        added = task.in_order(inputs, case)
        assert all(
            compare(added[n], reference[n], baseline[n], replace(task.tolerance, ratio=ratio)).correct for n in added
        )


@pytest.mark.parametrize("name", ["axpby", "transpose_add", "argmax"])
def test_without_sums_it_stays_as_it_is(name: str) -> None:
    assert ratio_of(narrow(load_task(OWN / name))) == NARROW


def test_in_a_narrow_type_rounding_outweighs_the_order() -> None:
    assert ratio_of(narrow(load_task("rms_norm", "mi300x"))) == NARROW
