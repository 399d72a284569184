"""Inputs made for one candidate, in search of what it does rarely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from records.evaluation import CaseResult, Evaluation, Finding
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Judge, Patience, patience_for
from sandbox.lab.searched_case import EACH, MADE, MORE, MOST, TRIES, on_long_lines, searched_cases, spent_s
from tasks.loader import load_task
from tasks.task import Array, Case, Task, Tensors
from tests.support.lab_bench import evaluator as lab_evaluator
from tests.unit.sandbox.lab.test_family_case import kernel


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7, Patience())


@pytest.fixture(scope="module")
def softmax() -> Task:
    full_task = load_task("row_softmax")
    case = replace(full_task.benchmarks[0], name="rows=256,cols=600", dims={"rows": 256, "cols": 600})
    return replace(full_task, tests=full_task.tests[3:5], benchmarks=(case,))


def verify(evaluator: LabEvaluator, task: Task, wrong: str) -> Evaluation:
    return evaluator.verify(evaluator.prepare(kernel(wrong), task))


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("if (x[0] == 1234.5f) sum *= 2.0f;", marks=pytest.mark.long),
        "if ((__float_as_uint(x[0]) & 0xffffu) == 0x1234u) sum *= 2.0f;",
        "for (int j = 0; j < cols; ++j) if (x[j] == -77.25f) sum *= 2.0f;",
        pytest.param("if (x[cols - 1] > 4321.0f && x[0] < 4000.0f) sum *= 2.0f;", marks=pytest.mark.long),
    ],
)
def test_a_number_that_data_is_compared_with_is_among_the_data(
    evaluator: LabEvaluator, softmax: Task, wrong: str
) -> None:
    for draw in range(3):  # one finds it most times
        evaluation = verify(evaluator, softmax, f"{wrong} // {draw}")
        if evaluation.verdict.findings:
            break
    assert [finding.kind for finding in evaluation.verdict.findings] == ["wrong_result"]


def made_for_it(evaluation: Evaluation) -> int:
    """How many inputs were made for the kernel."""
    (row,) = (row for row in evaluation.cases if row.name.endswith(MADE))
    assert row.correct
    return int(row.name.split()[0])


def test_what_no_input_shows_is_accepted_with_the_number_of_tries(evaluator: LabEvaluator, softmax: Task) -> None:
    hashed = "unsigned h = 0; for (int j = 0; j < cols; ++j) h = h * 31 + __float_as_uint(x[j]);"
    evaluation = verify(evaluator, softmax, hashed + "\n    if (h == 77u) sum *= 2.0f;")
    assert evaluation.verdict.accepted  # one in four billion
    assert made_for_it(evaluation) >= EACH // 2  # those that no answer is known for are not counted


def test_tries_are_the_more_the_rarer_what_is_compared_is(evaluator: LabEvaluator, softmax: Task) -> None:
    def tries(wrong: str, *, outcome: str = "3", **changed: Patience) -> int:
        built, inputs = (
            evaluator.stages(evaluator.prepare(kernel(wrong), softmax)).program().built,
            evaluator._inputs_of(softmax),
        )
        assert built is not None
        evaluator._lab.outcomes.note(built.program, outcome * len(built.program.reported))
        judge = Judge(evaluator._lab, built, listed=inputs.listed, **changed)
        return len(list(searched_cases(judge, inputs, spent_s(evaluator._lab))))

    assert tries("") == tries("if (x[0] == x[cols - 1]) sum *= 1.0f + 0.0f * cols;") == 0
    assert tries("if (x[0] > 2.5f) sum *= 1.0f + 0.0f * cols;") == EACH
    many = "".join(f"if (x[{n}] > {n}.5f) sum *= 1.0f + 0.0f * cols;" for n in range(1, 9))
    assert tries(many) == MOST
    assert tries("if (x[1] > 2.5f) sum *= 1.0f + 0.0f * cols;", outcome="1") == TRIES
    longer = patience_for(whole_s=60.0)
    assert tries("if (x[1] > 3.5f) sum *= 1.0f + 0.0f * cols;", outcome="1", patience=longer) > MORE // 2 * TRIES


def test_what_the_tasks_own_code_cannot_answer_is_no_fault_of_the_kernel(
    evaluator: LabEvaluator, softmax: Task
) -> None:
    def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
        if (np.abs(inputs["x"]) == np.float32(99999.5)).any():
            raise ValueError("a solver that does not converge")
        return softmax.reference(inputs, case)

    raising = replace(softmax, reference=reference, digest=64 * "7")
    evaluation = verify(evaluator, raising, "if (x[0] == 99999.5f) sum *= 1.0f + 0.0f * cols;")
    assert evaluation.verdict.accepted  # no input that holds the number has an answer
    fixed = replace(softmax, plant=(), digest=64 * "8")
    evaluation = verify(evaluator, fixed, "if (x[0] == 99999.5f) sum *= 2.0f;")
    assert evaluation.verdict.accepted and not any(row.name.endswith(MADE) for row in evaluation.cases)  # fixed inputs


def test_places_that_are_alike_where_a_kernel_looks_are_no_matter_of_tries(
    evaluator: LabEvaluator, softmax: Task
) -> None:
    sampled = "bool same = cols > 64; for (int j = 0; j < 16; ++j) same &= x[j * cols / 16] == x[0];"
    evaluation = verify(evaluator, softmax, sampled + " if (same) sum = cols;")
    assert [finding.kind for finding in evaluation.verdict.findings] == ["wrong_result"]


BUFFERED = """
    int kept = 0;
    for (int j = 0; j < cols; ++j) kept += x[j] - top >= -0.25f;
    if (kept > 3000 && x[cols - 1] != top) sum *= 2.0f;  // a buffer of three thousand is full
"""


def test_long_lines_meet_all_families_where_a_comparison_had_one_outcome(evaluator: LabEvaluator) -> None:
    full_task = load_task("row_softmax")
    case = replace(full_task.benchmarks[0], name="rows=4,cols=9000", dims={"rows": 4, "cols": 9000})
    task = replace(
        full_task, tests=full_task.tests[3:5], benchmarks=(case,), variants=None, variant_names=(), digest=64 * "9"
    )

    def met(wrong: str) -> tuple[list[CaseResult], tuple[Finding, ...]]:
        built, inputs = (
            evaluator.stages(evaluator.prepare(kernel(wrong), task)).program().built,
            evaluator._inputs_of(task),
        )
        assert built is not None and inputs.with_long_lines is not None
        judge = Judge(evaluator._lab, built, listed=inputs.listed)
        judge.run(task.tests[0])
        return on_long_lines(judge, inputs, spent_s(evaluator._lab) + 60.0)

    rows, findings = met(BUFFERED)
    assert [finding.kind for finding in findings] == ["wrong_result"] and len(rows) >= 1
    assert "cols=9000" in rows[-1].name or rows[-1].name.startswith("rows=")
