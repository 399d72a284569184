"""Families of inputs on benchmark cases: some for each candidate, all of them for one that leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from records.evaluation import Evaluation
from sandbox.lab.cases_met import cases_met
from sandbox.lab.family_case import FamilyCase, confirmed_families, met_by_one
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Judge, Patience
from sandbox.lab.listed_case import ListedCase
from sandbox.lab.session_inputs import SessionInputs
from tasks.loader import load_task
from tasks.task import Task
from tests.support.lab_bench import evaluator as lab_evaluator

SOFTMAX = """/*+++
[[launch]]
kernel = "softmax"
grid = ["{grid}"]
block = ["64"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void softmax(const float* x, float* y, int rows, int cols) {{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float top = -__builtin_huge_valf();
    for (int j = 0; j < cols; ++j) top = fmaxf(top, x[j]);
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) sum += expf(x[j] - top);
    {wrong}
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - top) / sum;
}}
"""


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7, Patience(deadline_s=20))


@pytest.fixture(scope="module")
def softmax() -> Task:
    """One small test and one benchmark case."""
    full_task = load_task("row_softmax")
    case = replace(full_task.benchmarks[0], name="rows=2048,cols=600", dims={"rows": 2048, "cols": 600})
    return replace(full_task, tests=full_task.tests[3:5], benchmarks=(case,))


def kernel(wrong: str = "") -> str:
    return SOFTMAX.format(grid="ceil_div(rows, 64)", wrong=wrong)


def verify(evaluator: LabEvaluator, task: Task, wrong: str) -> Evaluation:
    return evaluator.verify(evaluator.prepare(kernel(wrong), task))


@pytest.mark.parametrize(
    "wrong",
    [
        "for (int j = 0; j < cols; ++j) if (x[j] == 0.0f) sum += 1.0f;",
        "if (cols > 1 && x[0] == x[cols - 1]) sum *= 2.0f;",
        "for (int j = 1; j < cols; ++j) if (x[j] == x[j - 1]) sum += 1.0f;",
        "int tops = 0; for (int j = 0; j < cols; ++j) tops += x[j] == top; if (tops == 2) sum -= 1.0f;",
    ],
)
def test_values_that_no_draw_holds_are_planted(evaluator: LabEvaluator, softmax: Task, wrong: str) -> None:
    evaluation = verify(evaluator, softmax, wrong)
    assert [finding.kind for finding in evaluation.verdict.findings] == ["wrong_result"]
    assert "test" not in {row.role for row in evaluation.cases if not row.correct}


def test_a_kernel_that_leads_meets_every_family(evaluator: LabEvaluator, softmax: Task) -> None:
    leading = evaluator.confirm(evaluator.prepare(kernel(), softmax))
    assert leading.verdict.accepted
    met = {row.name.partition(" [")[2].rstrip("]") for row in leading.cases if row.name.startswith("rows=2048")}
    assert met >= {"zeros", "one value", "sorted", "outliers", *softmax.variant_names}
    rising = (
        "bool up = cols >= 16; for (int j = 1; j < 16 && j < cols; ++j) up &= x[j] > x[j - 1]; if (up) sum *= 2.0f;"
    )
    evaluation = evaluator.confirm(evaluator.prepare(kernel(rising), softmax))
    assert [finding.kind for finding in evaluation.verdict.findings] == ["wrong_result"]
    assert (evaluation.verdict.findings[0].case or "").endswith(("[sorted]", "[one size]"))  # both have lines that rise


@pytest.mark.long
def test_a_kernel_that_leads_meets_every_family_on_every_shape(evaluator: LabEvaluator, softmax: Task) -> None:
    """In part on three, which finds what is wrong everywhere on one shape; at the grid's end, too."""
    (case,) = softmax.benchmarks
    shapes = [{"rows": 4096 + 64 * n, "cols": 600 + n} for n in range(4)]
    cases = tuple(replace(case, name=f"shape {n}", dims=dims) for n, dims in enumerate(shapes))
    task = replace(softmax, benchmarks=cases, digest=64 * "5")
    equal = "x[0] == x[1] && x[1] == x[2] && x[2] == x[3]"
    for wrong in (f"if (cols == 602 && {equal}) sum *= 2.0f;", f"if (row + 1 == rows && {equal}) sum *= 2.0f;"):
        built, inputs = (
            evaluator.stages(evaluator.prepare(kernel(wrong), task)).program().built,
            evaluator._inputs_of(task),
        )
        assert built is not None
        judge = Judge(evaluator._lab, built, Patience(), listed=inputs.listed)
        rows, findings = confirmed_families(judge, evaluator._plain(built), inputs, [0.1, 0.1, 0.1, 0.1])
        assert [finding.kind for finding in findings] == ["wrong_result"] and not rows[-1].correct
        *before, last = dict.fromkeys(row.name.partition(" [")[2] for row in rows)
        assert last and all(
            {row.name.partition(" [")[0] for row in rows if row.name.endswith(f" [{family}")}
            == {case.name for case in cases}
            for family in before
        )


def test_a_workgroup_that_writes_nothing_on_a_family_is_a_finding(evaluator: LabEvaluator, softmax: Task) -> None:
    prepared = evaluator.prepare(kernel("if (cols == 600 && x[0] == x[1] && x[1] == x[2]) return;"), softmax)
    built = evaluator.stages(prepared).program().built
    inputs = evaluator._inputs_of(softmax)
    assert built is not None
    judge = Judge(evaluator._lab, built, Patience(), listed=inputs.listed)
    row, findings = FamilyCase(judge, softmax.benchmarks[0], "equal rows", inputs).run()
    assert not row.correct and findings[0].kind == "unwritten_output"
    row, findings = FamilyCase(judge, softmax.benchmarks[0], "outliers", inputs).run()
    assert row.correct and not findings and row.role == "held_out" and row.name.endswith("[outliers]")


def test_a_plan_of_several_launches_meets_a_family_on_a_shorter_case(evaluator: LabEvaluator, softmax: Task) -> None:
    twice = kernel().replace("[[launch]]", '[[launch]]\nfor = "turn in range(2)"', 1)
    large = replace(softmax, benchmarks=(replace(softmax.benchmarks[0], dims={"rows": 20000, "cols": 600}),))
    built = evaluator.stages(evaluator.prepare(twice, large)).program().built
    inputs = evaluator._inputs_of(large)
    assert built is not None
    row, findings = FamilyCase(
        Judge(evaluator._lab, built, Patience(), listed=inputs.listed), large.benchmarks[0], "zeros", inputs
    ).run()
    assert row.correct and not findings and row.name.endswith("[zeros]") and "rows=20000" not in row.name


def test_each_candidate_draws_its_own_families(evaluator: LabEvaluator, softmax: Task) -> None:
    inputs: SessionInputs = evaluator._inputs_of(softmax)
    drawn = [met_by_one(inputs) for _ in range(300)]
    assert {case.name for rows in drawn for case, _ in rows} == {"rows=2048,cols=600"}
    assert {family for rows in drawn for _, family in rows} == set(inputs.listed.families.names)
    bare = replace(softmax, plant=(), variant_names=(), digest="bare")
    assert met_by_one(evaluator._inputs_of(bare)) == []


def test_families_come_behind_what_is_plain(evaluator: LabEvaluator, softmax: Task) -> None:
    built, inputs = (
        evaluator.stages(evaluator.prepare(kernel(), softmax)).program().built,
        evaluator._inputs_of(softmax),
    )
    assert built is not None
    met = list(cases_met(Judge(evaluator._lab, built, listed=inputs.listed), inputs, 7))
    roles = [met_case.case.role for met_case in met]
    assert roles[:2] == ["test", "test"] and roles[-2:] == ["benchmark", "benchmark"]
    assert isinstance(met[-1], FamilyCase) and not isinstance(met[-2], FamilyCase)


def test_the_tasks_own_families_meet_each_long_dim_and_orders_meet_long_lines(evaluator: LabEvaluator) -> None:
    task = load_task("row_softmax")
    built = evaluator.stages(evaluator.prepare(kernel(), task)).program().built
    inputs = evaluator._inputs_of(task)
    assert built is not None and inputs.with_long_lines is not None and len(inputs.long) > 1
    met = list(cases_met(Judge(evaluator._lab, built, listed=inputs.listed), inputs, 7))
    on = {(met_case.case.name, met_case.variant) for met_case in met if isinstance(met_case, ListedCase)}
    assert on >= {(case.name, name) for case in inputs.long for name in task.variant_names}
    assert on >= {(inputs.with_long_lines.name, name) for name in ("sorted", "gathered")}
    assert on >= {(met_case.case.name, met_case.family) for met_case in inputs.swept(built.prepared)}
