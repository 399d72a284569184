"""Of a batch's outputs the wrong ones are suspected, by whole cases, and right ones are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sandbox.candidate.prepare import prepare
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.sweep import Sweep
from sandbox.gpu.batch import Batch, BatchCandidate, make_batch
from sandbox.gpu.batch_comparison import CHECKED, suspects
from sandbox.target import load_target
from tasks.dtypes import numpy_dtype
from tasks.loader import load_task, task_names
from tasks.task import Task


def batch(task: Task, families: InputFamilies, count: int = 60) -> Batch:
    prepared = prepare(task.seeds[0].read_text(encoding="utf-8"), task)
    drawn = list(Sweep(task, 21, tuple(families.ranges)).cases(0, count))
    new_batch = make_batch(drawn, BatchCandidate(prepared, (), load_target("h200")), families)
    new_batch.close()
    return new_batch


def standard(task: Task, drawn: Batch) -> np.ndarray:
    """The outputs of the standard implementation, as a GPU would give them."""
    parts, offset = [], 0
    for spec, elements in zip(task.outputs, drawn.elements, strict=True):
        count = sum(elements)
        with np.errstate(over="ignore"):
            parts.append(
                drawn.answers[offset + count : offset + 2 * count].astype(numpy_dtype(spec.dtype)).view(np.uint8)
            )
        offset += 2 * count
    return np.concatenate(parts)


@pytest.mark.parametrize("name", task_names())
def test_the_standard_implementation_is_never_suspected(name: str) -> None:
    task = load_task(name)
    families = InputFamilies(task)
    drawn = batch(task, families, 24)
    assert suspects(families, drawn, standard(task, drawn)) == []


def test_one_wrong_element_is_that_cases() -> None:
    task = load_task("transpose")
    families = InputFamilies(task)
    drawn = batch(task, families)
    outputs = standard(task, drawn)
    starts = np.concatenate([[0], np.cumsum(drawn.elements[0])])
    for number in (0, 7, len(drawn.rows) - 1):
        wrong = outputs.copy()
        wrong.view(np.float32)[starts[number + 1] - 1] *= 1.001
        assert suspects(families, drawn, wrong) == [number]
        wrong.view(np.float32)[starts[number]] = np.nan
        assert suspects(families, drawn, wrong) == [number]


def test_a_sum_that_lacks_one_value_is_suspected() -> None:
    task = load_task("reduction")
    families = InputFamilies(task)
    drawn = batch(task, families)
    count = len(drawn.rows)
    lacking = (drawn.answers[:count] * (1 - 1 / 4000)).astype(np.float32)
    assert len(suspects(families, drawn, lacking.view(np.uint8))) > 0.9 * count


def test_infinities_must_stand_where_they_belong() -> None:
    task = load_task("row_softmax")
    families = InputFamilies(task)
    drawn = batch(task, families)
    wrong = standard(task, drawn)
    wrong.view(np.float32)[3] = np.inf
    assert suspects(families, drawn, wrong) == [int(np.searchsorted(np.cumsum(drawn.elements[0]), 3, side="right"))]


def test_whole_numbers_are_exact() -> None:
    task = load_task("histogram")
    families = InputFamilies(task)
    drawn = batch(task, families)
    wrong = standard(task, drawn)
    wrong.view(np.int32)[-1] += 1
    assert suspects(families, drawn, wrong) == [len(drawn.rows) - 1]


def test_a_gate_by_rows_is_asked_case_by_case() -> None:
    task = load_task("fp8_block_gemm", "h200")
    assert any(task.tolerance_of(spec).row_rtol for spec in task.outputs)
    families = InputFamilies(task)
    drawn = batch(task, families, 12)
    wrong = standard(task, drawn)
    dtype = numpy_dtype(task.outputs[0].dtype)
    wrong.view(dtype)[: drawn.elements[0][0]] = np.zeros((), dtype)
    assert suspects(families, drawn, wrong) == [0]


def test_a_task_with_a_check_of_its_own_has_some_cases_asked_it() -> None:
    task = replace(load_task("transpose"), check=lambda inputs, outputs, case: (False, "never"))
    families = InputFamilies(task)
    drawn = batch(task, families)
    assert suspects(families, drawn, standard(task, drawn)) == list(range(CHECKED))
