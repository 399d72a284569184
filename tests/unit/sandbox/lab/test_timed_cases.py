from __future__ import annotations

import pytest

from records.evaluation import Evaluation
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience
from tasks import Task, load_task
from tests.support.lab_bench import evaluator as lab_evaluator

HEAD = """/*+++
[[launch]]
kernel = "softmax"
grid = ["{grid}"]
block = ["64"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void softmax(const float* x, float* y, int rows, int cols) {{
    const int row = blockIdx.x * 64 + threadIdx.x;
    const bool timed = rows == 8192 || rows == 2048 || (rows == 10007 && cols == 3001);
    if (row >= rows) return;
    {early}
    x += (long)row * cols;
    y += (long)row * cols;
    float top = -__builtin_huge_valf();
    for (int j = 0; j < cols; ++j) top = fmaxf(top, x[j]);
    float sum = timed ? 0.0f : 0.0f;
    for (int j = 0; j < cols; ++j) sum += expf(x[j] - top);
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - top) / sum {factor};
}}
"""


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7, Patience(deadline_s=20))


@pytest.fixture(scope="module")
def softmax() -> Task:
    return load_task("row_softmax")


def verify(evaluator: LabEvaluator, task: Task, early: str = "", factor: str = "", grid: str = "") -> Evaluation:
    source = HEAD.format(early=early, factor=factor, grid=grid or "ceil_div(rows, 64)")
    return evaluator.verify(evaluator.prepare(source, task))


def test_a_sample_of_each_benchmark_is_compared_and_said(evaluator: LabEvaluator, softmax: Task) -> None:
    made = verify(evaluator, softmax)
    assert made.verdict.accepted
    rows = [row for row in made.cases if row.role == "benchmark"]
    assert [row.name for row in rows] == [case.name for case in softmax.benchmarks]
    for row in rows:
        assert row.correct and 2 <= row.workgroups < row.grid and 1 <= row.drawn <= row.workgroups
        assert row.executed == pytest.approx(row.workgroups / row.grid)
        assert 0 < row.compared < 1 and 0 < row.miss_chance < 1 and row.error is not None


@pytest.mark.parametrize(
    ("early", "factor", "kind"),
    [
        ("", "* (timed ? 1.01f : 1.0f)", "wrong_result"),
        ("if (timed && row > 1000) return;", "", "unwritten_output"),
        ("if (timed && blockIdx.x + 1 == gridDim.x) return;", "", "unwritten_output"),
        ("if (timed && threadIdx.x % 2) return;", "", "unwritten_output"),
    ],
)
def test_a_kernel_that_is_wrong_only_where_it_is_timed(
    evaluator: LabEvaluator, softmax: Task, early: str, factor: str, kind: str
) -> None:
    made = verify(evaluator, softmax, early, factor)
    assert not made.verdict.accepted
    found = made.verdict.findings[0]
    assert found.kind == kind and found.case in {case.name for case in softmax.benchmarks}
    assert [row.role for row in made.cases if not row.correct] == ["benchmark"]


def test_idle_workgroups_of_a_grid_larger_than_needed_are_no_fault(evaluator: LabEvaluator, softmax: Task) -> None:
    made = verify(evaluator, softmax, grid="ceil_div(rows, 64) * 5")
    assert made.verdict.accepted, made.verdict
