from __future__ import annotations

from dataclasses import replace

import pytest

from records.errors import ReferenceTooLarge
from records.evaluation import Evaluation
from sandbox.lab.confirmed_case import PILOT, ConfirmedCase
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Judge, Patience
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.timed_cases import ENOUGH, TimedCase
from tasks import Task, load_task
from tasks.task import Array, Case, Tensors
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
    const bool timed = (rows == 2048 && cols == 600) || (rows == 1003 && cols == 301);
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
    return lab_evaluator(7, Patience(deadline_s=20, searched_s=0.1))


@pytest.fixture(scope="module")
def softmax() -> Task:
    return load_task("row_softmax")


@pytest.fixture(scope="module")
def short(softmax: Task) -> Task:
    """Two tests and two benchmark cases of little work, so that a candidate costs little."""
    sizes = ({"rows": 2048, "cols": 600}, {"rows": 1003, "cols": 301})
    cases = tuple(
        replace(case, name=f"rows={dims['rows']},cols={dims['cols']}", dims=dims)
        for case, dims in zip(softmax.benchmarks, sizes, strict=False)
    )
    return replace(softmax, tests=softmax.tests[:2], benchmarks=cases, digest="3" * 64)


def verify(evaluator: LabEvaluator, task: Task, early: str = "", factor: str = "", grid: str = "") -> Evaluation:
    source = HEAD.format(early=early, factor=factor, grid=grid or "ceil_div(rows, 64)")
    return evaluator.verify(evaluator.prepare(source, task))


def test_a_case_whose_reference_takes_too_much_memory_is_compared_scaled_down_and_said(
    evaluator: LabEvaluator, short: Task
) -> None:
    (large, _) = short.benchmarks

    def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
        if case.dims["cols"] == large.dims["cols"] and case.role != "held_out":
            raise ReferenceTooLarge("too large")
        return short.reference(inputs, case)

    alone = replace(short, benchmarks=(large,), reference=reference, digest="4" * 64)
    evaluation = verify(evaluator, alone)
    rows = [row for row in evaluation.cases if row.role == "benchmark" or row.stands_for]
    assert evaluation.verdict.accepted, evaluation.verdict
    assert large.name in {row.stands_for for row in rows}


def test_a_sample_of_each_benchmark_is_compared_and_said(evaluator: LabEvaluator, softmax: Task) -> None:
    two = replace(softmax, benchmarks=softmax.benchmarks[:2], tests=softmax.tests[:2], digest="5" * 64)
    evaluation = verify(evaluator, two)
    assert evaluation.verdict.accepted
    rows = [row for row in evaluation.cases if row.role == "benchmark"]
    assert [row.name for row in rows] == [case.name for case in two.benchmarks]
    for row in rows:
        assert row.correct and 1 <= row.drawn <= row.workgroups < row.grid  # one alone where it is the one at the end
        assert row.executed == pytest.approx(row.workgroups / row.grid)
        assert 0 < row.compared < 1 and 0 < row.miss_chance < 1 and row.error is not None


@pytest.mark.parametrize(
    ("early", "factor", "kind"),
    [
        ("", "* (timed ? 1.01f : 1.0f)", "wrong_result"),
        ("if (timed && row > 1000) return;", "", "unwritten_output"),
        pytest.param(
            "if (timed && blockIdx.x + 1 == gridDim.x) return;", "", "unwritten_output", marks=pytest.mark.long
        ),
        pytest.param("if (timed && threadIdx.x % 2) return;", "", "unwritten_output", marks=pytest.mark.long),
    ],
)
def test_a_kernel_that_is_wrong_only_where_it_is_timed(
    evaluator: LabEvaluator, short: Task, early: str, factor: str, kind: str
) -> None:
    evaluation = verify(evaluator, short, early, factor)
    assert not evaluation.verdict.accepted
    finding = evaluation.verdict.findings[0]
    assert finding.kind == kind and finding.case in {case.name for case in short.benchmarks}
    assert [row.role for row in evaluation.cases if not row.correct] == ["benchmark"]


@pytest.mark.long
def test_idle_workgroups_of_a_grid_larger_than_needed_are_no_fault(evaluator: LabEvaluator, short: Task) -> None:
    cheap = replace(short, benchmarks=short.benchmarks[:1], digest="1" * 64)
    evaluation = verify(evaluator, cheap, grid="ceil_div(rows, 64) * 5")
    assert evaluation.verdict.accepted, evaluation.verdict


def test_a_case_in_question_whose_deadline_comes_though_nothing_hangs_is_sampled(evaluator: LabEvaluator) -> None:
    task = load_task("row_softmax")
    grid = "ceil_div(rows, 64) * 5"
    prepared = evaluator.prepare(HEAD.format(early="", factor="", grid=grid), task)
    program = evaluator.stages(prepared).program()
    evaluation, built = program.evaluation, program.built
    assert evaluation.verdict.accepted and built is not None
    inputs = evaluator._inputs_of(task)
    judge = Judge(evaluator._lab, built, Patience(deadline_s=0.05))
    row, findings = TimedCase(judge, task.benchmarks[0], inputs.of(task.benchmarks[0]), inputs.rng).run()
    assert judge.moving and findings == () and row.correct and not row.is_whole


def test_a_leader_is_executed_whole_and_one_wrong_row_is_found(evaluator: LabEvaluator, short: Task) -> None:
    two = replace(
        short, digest="2" * 64, variants=None, variant_names=(), plant=()
    )  # families of inputs have tests of their own
    right = evaluator.prepare(HEAD.format(early="", factor="", grid="ceil_div(rows, 64)"), two)
    evaluation = evaluator.confirm(right)
    assert evaluation.verdict.accepted
    rows = [row for row in evaluation.cases if row.role == "benchmark"]
    assert len(rows) == 2 and all(row.is_whole and row.miss_chance == 0 and row.grid for row in rows)
    factor = "* (rows == 2048 && cols == 600 && row == 1503 ? 1.01f : 1.0f)"  # no drawn shape is this one
    wrong = evaluator.prepare(HEAD.format(early="", factor=factor, grid="ceil_div(rows, 64)"), two)
    refuted = evaluator.confirm(wrong)
    assert not refuted.verdict.accepted and refuted.verdict.findings[0].case == "rows=2048,cols=600"


def test_a_case_that_cannot_be_executed_whole_has_enough_workgroups(evaluator: LabEvaluator) -> None:
    task = load_task("transpose")
    prepared = evaluator.prepare(task.seeds[0].read_text(encoding="utf-8"), task)
    program = evaluator.stages(prepared).program()
    evaluation, built = program.evaluation, program.built
    assert evaluation.verdict.accepted and built is not None
    inputs = evaluator._inputs_of(task)
    judge = Judge(evaluator._lab, built, Patience(deadline_s=20, whole_s=0.0))
    timed = TimedCase(judge, task.benchmarks[0], inputs.of(task.benchmarks[0]), inputs.rng)
    row, findings = ConfirmedCase(timed, None, 1000.0).run()
    assert findings == () and row.drawn == ENOUGH and row.workgroups > ENOUGH
    assert 0 < row.miss_chance < 0.01
    row, findings = ConfirmedCase(timed, None, 0.0).run()
    assert findings == () and row.drawn == PILOT and not row.is_whole and row.miss_chance > 0.9


def test_probes_are_for_test_cases(evaluator: LabEvaluator, softmax: Task) -> None:
    prepared = evaluator.prepare(HEAD.format(early="", factor="* 1.0f", grid="ceil_div(rows, 64)"), softmax)
    built, inputs, case = evaluator.stages(prepared).program().built, evaluator._inputs_of(softmax), softmax.tests[0]
    assert built is not None and isinstance(evaluator._lab, MachineLab)
    before = evaluator._lab._instrumented.values()
    row, findings = TimedCase(Judge(evaluator._lab, built), case, inputs.of(case), inputs.rng).run()
    assert row.correct and not findings
    assert evaluator._lab._instrumented.values() == before
