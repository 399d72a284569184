from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.lab.confirmed_case import PILOT, ConfirmedCase
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import EXACT, Judge, patience_for
from sandbox.lab.timed_cases import ENOUGH, TimedCase
from tasks import Task, load_task
from tests.support.lab_bench import evaluator as lab_evaluator

REAL = Path(__file__).parents[3] / "kernels" / "real" / "tasks"


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7)


def confirmed(evaluator: LabEvaluator, task: Task, source: str, dims: dict[str, int], budget_s: float) -> ConfirmedCase:
    prepared = evaluator.prepare(source, task)
    built = evaluator.stages(prepared).program().built
    assert built is not None
    inputs = evaluator._inputs_of(task)
    case = replace(task.benchmarks[0], name=str(dims), dims=dims)
    timed = TimedCase(Judge(evaluator._lab, built), case, inputs.of(case), inputs.rng)
    return ConfirmedCase(timed, evaluator._plain(built), budget_s)


def test_a_kernel_with_matrix_instructions_is_executed_whole_without_checks(evaluator: LabEvaluator) -> None:
    task = load_task("fp8_block_gemm", "mi300x")
    seed = next(path for path in task.seeds if "mfma" in path.name).read_text(encoding="utf-8")
    row, findings = confirmed(evaluator, task, seed, {"m": 192, "n": 256, "k": 256}, 100.0).run()
    assert findings == () and row.is_whole and row.drawn == row.grid == 12


def test_where_the_budget_ends_the_row_says_how_many_workgroups_there_were(evaluator: LabEvaluator) -> None:
    task = load_task("transpose")
    seed = task.seeds[0].read_text(encoding="utf-8")
    row, findings = confirmed(evaluator, task, seed, {"rows": 2048, "cols": 2048}, 0.0).run()
    assert findings == () and row.workgroups == row.drawn == PILOT and not row.is_whole and row.miss_chance > 0.9
    row, findings = confirmed(evaluator, task, seed, {"rows": 2048, "cols": 2048}, 1000.0).run()
    assert findings == () and (row.is_whole or row.drawn == ENOUGH)


def test_what_only_a_program_without_checks_runs_into_is_told_by_one_with_them(evaluator: LabEvaluator) -> None:
    task = load_task("transpose")
    seed = task.seeds[0].read_text(encoding="utf-8")
    wrong = seed.replace("{", "{ if (rows == 2048 && blockIdx.x == 7 && blockIdx.y == 7) __builtin_trap();", 1)
    assert wrong != seed
    row, findings = confirmed(evaluator, task, wrong, {"rows": 2048, "cols": 2048}, 1000.0).run()
    assert not row.correct and findings


IN_PLACE = """/*+++
[[launch]]
kernel = "squares"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["y", "n"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void squares(int* y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = RIGHT;
}
"""


def test_an_output_that_is_changed_in_place_is_executed_whole(evaluator: LabEvaluator) -> None:
    task = load_task(str(REAL / "squared_in_place"), "mi300x")
    source, dims = IN_PLACE.replace("RIGHT", "y[i] * y[i]"), {"n": 1 << 18}
    row, findings = confirmed(evaluator, task, source, dims, 100.0).run()
    assert findings == () and row.correct and row.is_whole
    row, findings = confirmed(evaluator, task, IN_PLACE.replace("RIGHT", "y[i]"), dims, 100.0).run()
    assert not row.correct and [finding.kind for finding in findings] == ["wrong_result"]


@pytest.mark.parametrize("element", ["0", "1023", "2047"])
def test_one_wrong_element_among_many_slabs_that_are_alike_is_found(evaluator: LabEvaluator, element: str) -> None:
    task = load_task("transpose")
    seed = task.seeds[0].read_text(encoding="utf-8")
    wrong = seed.replace("= x[", f"= rows == 2048 && i == {element} && j == 2000 ? 12345.0f : x[")
    assert wrong != seed
    row, findings = confirmed(evaluator, task, wrong, {"rows": 2048, "cols": 2048}, 1000.0).run()
    assert not row.correct and [finding.kind for finding in findings] == ["wrong_result"]


def test_a_case_may_take_as_long_as_it_is_given(evaluator: LabEvaluator) -> None:
    task = load_task("transpose")
    usual = confirmed(evaluator, task, task.seeds[0].read_text(encoding="utf-8"), {"rows": 64, "cols": 64}, 1000.0)
    assert (usual.limit_s(0.001), usual.limit_s(1.0)) == (30.0, ENOUGH)
    patience = patience_for(whole_s=600.0)
    assert patience.confirm_s == 600.0 and patience.deadline_s == usual.timed.judge.patience.deadline_s
    longer = replace(usual, timed=replace(usual.timed, judge=replace(usual.timed.judge, patience=patience)))
    assert (longer.limit_s(0.001), replace(longer, budget_s=5.0).limit_s(0.001)) == (600.0, 5.0)
    assert (usual.tried_s, replace(usual, budget_s=8.0).tried_s) == (2.0, 1.0)
    assert (longer.tried_s, replace(longer, budget_s=8.0).tried_s) == (600.0, 8.0)
    assert patience_for(exact=True, whole_s=9.0) == replace(EXACT, confirm_s=9.0, whole_s=9.0, tried_s=9.0)


def test_many_workgroups_stand_for_a_case_that_is_not_executed_whole(evaluator: LabEvaluator) -> None:
    task = load_task("transpose")
    seed = task.seeds[0].read_text(encoding="utf-8")
    case = confirmed(evaluator, task, seed, {"rows": 2048, "cols": 2048}, 1000.0)
    row, findings = case._many(case.timed.nothing(), case.spent_s())
    assert findings == () and row.drawn == ENOUGH and not row.is_whole
