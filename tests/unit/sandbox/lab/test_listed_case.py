from __future__ import annotations

import os
from dataclasses import replace

import pytest

from sandbox.lab.cases_met import one_whole
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Judge, Patience, Rows
from sandbox.lab.listed_case import FEWEST, ListedCase
from sandbox.lab.timed_cases import ENOUGH
from tasks import load_task
from tasks.task import Case
from tests.support.lab_bench import evaluator as lab_evaluator

ROWS, COLS = 3000, 600
SOURCE = """/*+++
[[launch]]
kernel = "softmax"
grid = ["ceil_div(rows, 4)"]
block = ["4"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {{
    const int row = blockIdx.x * 4 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    {early}
    float top = -__builtin_huge_valf();
    for (int j = 0; j < cols; ++j) top = fmaxf(top, x[j]);
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) sum += expf(x[j] - top);
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - top) / sum;
}}
"""
AT_THE_ENDS = "if (blockIdx.x == 0 || blockIdx.x + 1 == gridDim.x)"
COSTLY = f"{AT_THE_ENDS} for (int i = 0; i < 100; ++i) for (int j = 0; j < cols; ++j) ((volatile float*)y)[j] = i;"


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7)


def run_listed(evaluator: LabEvaluator, early: str, accesses: int, variant: str | None = None) -> Rows:
    task = load_task("row_softmax")
    built = evaluator.stages(evaluator.prepare(SOURCE.format(early=early), task)).program().built
    assert built is not None
    case = Case(f"rows={ROWS},cols={COLS}", {"rows": ROWS, "cols": COLS}, 3)
    judge = Judge(evaluator._lab, built, Patience(accesses=accesses))
    return ListedCase(judge, case, variant, evaluator._inputs_of(task)).run()


def test_an_affordable_case_is_executed_whole(evaluator: LabEvaluator) -> None:
    row, findings = run_listed(evaluator, "", 1 << 30)
    assert findings == () and row.correct and row.is_whole and row.role == "test"


def test_another_one_is_sampled_and_its_share_is_said(evaluator: LabEvaluator) -> None:
    row, findings = run_listed(evaluator, "", 100_000)
    assert findings == () and row.correct and row.role == "test" and row.grid == ROWS // 4
    assert FEWEST <= row.workgroups < row.grid and 0 < row.miss_chance < 1
    assert row.compared == pytest.approx(row.executed)


def test_a_family_of_inputs_is_sampled_under_its_own_name(evaluator: LabEvaluator) -> None:
    variant = load_task("row_softmax").variant_names[0]
    row, findings = run_listed(evaluator, "", 100_000, variant)
    assert findings == () and row.correct and not row.is_whole and row.name.endswith(f"[{variant}]")


def test_costly_workgroups_at_the_ends_decide_nothing(evaluator: LabEvaluator) -> None:
    half_of_both = 100 * COLS * 4
    assert half_of_both * ROWS // 4 > 16 * ROWS * COLS, "what two known workgroups cost would lead to a sample"
    cases = [run_listed(evaluator, COSTLY, 16 * ROWS * COLS) for _ in range(2)]
    assert all(findings == () for _, findings in cases)
    assert any(row.is_whole for row, _ in cases), "once in 125 draws a costly one is among the three by chance"


def test_a_sample_that_leaves_rows_out_is_refused(evaluator: LabEvaluator) -> None:
    row, findings = run_listed(evaluator, "if (row % 2) return;", 100_000)
    assert [finding.kind for finding in findings] == ["unwritten_output"] and not row.correct


def test_a_wrong_sample_is_refused(evaluator: LabEvaluator) -> None:
    row, findings = run_listed(evaluator, "x += cols > 1 ? -1 : 0; if (row == 0) ++x;", 100_000)
    assert findings and not row.correct


def test_a_hang_costs_one_deadline(evaluator: LabEvaluator) -> None:
    task = load_task("row_softmax")
    hung = SOURCE.format(early="for (volatile int i = 1; i; ) {}")
    built = evaluator.stages(evaluator.prepare(hung, task)).program().built
    assert built is not None
    judge, before_s = Judge(evaluator._lab, built, Patience(deadline_s=1.0)), evaluator.executors_s
    row, findings = ListedCase(judge, task.tests[0], None, evaluator._inputs_of(task)).run()
    assert [finding.kind for finding in findings] == ["deadlock"]
    assert not row.correct
    assert evaluator.executors_s - before_s < 1.0 * (evaluator._lab.cores + 1)  # of each worker, and starts


SLOWLY = "for (volatile int i = 0; i < 120000; ++i) {}"
ONCE = "if (blockIdx.x == 400) for (volatile int i = 1; i; ) {}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("early", "kinds"),
    [
        pytest.param(SLOWLY, [], marks=pytest.mark.long),
        (ONCE, ["deadlock"]),
        pytest.param(SLOWLY + ONCE, ["timeout"], marks=pytest.mark.long),
    ],
)
def test_many_slow_workgroups_are_sampled_and_one_that_hangs_is_found(
    evaluator: LabEvaluator, early: str, kinds: list[str]
) -> None:
    task, case = load_task("row_softmax"), Case(f"rows={ROWS},cols={COLS}", {"rows": ROWS, "cols": COLS}, 3)
    source = SOURCE.format(early=early if ONCE not in early else f"if (blockIdx.x > 398) {{ {early} }}")
    built = evaluator.stages(evaluator.prepare(source, task)).program().built
    assert built is not None
    judge = Judge(evaluator._lab, built, Patience(accesses=1 << 30, deadline_s=0.9))
    row, findings = ListedCase(judge, case, None, evaluator._inputs_of(task)).run()
    assert [finding.kind for finding in findings] == kinds
    assert kinds or (row.correct and not row.is_whole and row.drawn >= FEWEST)


def test_a_small_case_with_many_idle_work_items_is_sampled(evaluator: LabEvaluator) -> None:
    """A block a row: each of its work-items costs a switch at every barrier, though most have no element."""
    task, case = load_task("row_softmax"), Case("rows=10007,cols=7", {"rows": 10007, "cols": 7}, 3)
    for block, is_whole in ((64, True), (1024, False)):
        source = SOURCE.format(early="if (threadIdx.x) return;")
        source = source.replace("ceil_div(rows, 4)", "rows").replace('["4"]', f'["{block}"]')
        source = source.replace("blockIdx.x * 4 + threadIdx.x", "blockIdx.x")
        built = evaluator.stages(evaluator.prepare(source, task)).program().built
        assert built is not None
        row, findings = ListedCase(
            Judge(evaluator._lab, built, Patience()), case, None, evaluator._inputs_of(task)
        ).run()
        assert findings == () and row.correct and row.is_whole is is_whole
        assert is_whole or (row.grid == 10007 and row.drawn >= ENOUGH)


def test_a_kernel_of_which_only_samples_were_executed_is_executed_whole_once(evaluator: LabEvaluator) -> None:
    """Its last workgroup writes one element less than it should, which no share of a sample shows."""
    case = Case(f"rows={ROWS},cols={COLS}", {"rows": ROWS, "cols": COLS}, 3)
    task = replace(load_task("row_softmax"), tests=(case,))
    full = SOURCE.format(early="")
    short = full.replace("j < cols; ++j) y[j]", "j < cols - (row + 1 == rows); ++j) y[j]")
    for source, kinds in ((full, []), (short, ["wrong_result"])):
        built = evaluator.stages(evaluator.prepare(source, task)).program().built
        assert built is not None
        judge, inputs = Judge(evaluator._lab, built, Patience(accesses=100_000)), evaluator._inputs_of(task)
        assert ListedCase(judge, case, None, inputs).run()[1] == ()
        row, findings = one_whole(judge, evaluator._plain(built), inputs)
        assert [finding.kind for finding in findings] == kinds and row.role == "test"
        assert row.is_whole or kinds


# Late by threads of all cores, and each workgroup soon enough: a third of what a slow processor may take for one.
TURNS = 40_000 * min(4, len(os.sched_getaffinity(0)))
LATE = f"if (cols == {COLS}) for (volatile int i = 0; i < {TURNS}; ++i) {{}}"
HUNG = f"if (cols == {COLS} && blockIdx.x > 2) for (volatile int i = 1; i; ) {{}}"


@pytest.mark.parametrize(
    ("early", "kinds"),
    [(LATE, []), (f"{LATE} if (cols != {COLS}) return;", ["unwritten_output"]), (HUNG, ["deadlock"])],
)
def test_a_plan_that_is_executed_whole_or_not_at_all_is_shortened_where_it_is_slow(
    evaluator: LabEvaluator, early: str, kinds: list[str]
) -> None:
    task, case = load_task("row_softmax"), Case(f"rows={ROWS},cols={COLS}", {"rows": ROWS, "cols": COLS}, 3)
    source = SOURCE.format(early=early).replace("+++*/", '\n[workspace]\nunused = ["f32", "1"]\n+++*/')
    built = evaluator.stages(evaluator.prepare(source, task)).program().built
    assert built is not None
    judge = Judge(evaluator._lab, built, Patience(deadline_s=0.4 if early == HUNG else 0.8))
    row, findings = ListedCase(judge, case, None, evaluator._inputs_of(task)).run()
    assert [finding.kind for finding in findings] == kinds
    assert (row.stands_for == case.name) == (early != HUNG)
    assert kinds or (row.correct and row.name != case.name)
