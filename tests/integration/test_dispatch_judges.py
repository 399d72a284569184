"""A dispatch before the real judges: the lab by the command line, and the judge of GPUs on a stub of HIP's runtime."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import run_command
from records.evaluation import Comparison, Evaluation
from sandbox.candidate.dispatch import Variant, dispatch_text
from sandbox.candidate.prepare import Prepared
from sandbox.dispatched import asking, compared, judged
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.walk import Purpose
from tasks.loader import load_task
from tasks.task import Task
from tests.integration.test_device_judge import SLOW_US, judge, small_caches, source, stub, task
from tests.support.lab_bench import evaluator

__all__ = ["judge", "small_caches", "stub", "task"]  # fixtures

WHOLE = load_task("row_softmax")
SHORT = [
    replace(case, name=f"rows=96,cols={n}", dims={"rows": 96, "cols": n})
    for case, n in zip(WHOLE.benchmarks, (1024, 4096), strict=False)
]
SOFTMAX = replace(WHOLE, benchmarks=tuple(SHORT), digest="4" * 64)
NAIVE, TUNABLE = (path.read_text(encoding="utf-8") for path in SOFTMAX.seeds)
WRONG = TUNABLE.replace("expf(", "expf(0.999f * ")


def file(*rows: tuple[str, str]) -> str:
    """A dispatch with one part for each pair of a text and its condition."""
    names = [f"part_{number}" for number in range(len(rows))]
    variants = [Variant(name, when) for name, (_, when) in zip(names, rows, strict=True)]
    text = dispatch_text(variants, {name: part for name, (part, _) in zip(names, rows, strict=True)})
    assert text is not None
    return text


@pytest.mark.slow
def test_the_lab_times_each_case_with_its_kernel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lab: LabEvaluator = evaluator(0)
    text = file((NAIVE, "cols <= 2000"), (TUNABLE, ""))
    prepared, alone = lab.prepare(text, SOFTMAX), list[dict[str, float]]()

    def ask(purpose: Purpose, arm: Prepared) -> Evaluation:
        evaluation = lab.benchmark(arm)
        alone.append({m.case: m.time_us for m in evaluation.measurements})
        return evaluation

    evaluation = judged(ask, "benchmark", prepared, lab.key(prepared))
    assert evaluation.verdict.accepted, evaluation.verdict
    for case, measurement in zip(SOFTMAX.benchmarks, evaluation.measurements, strict=True):
        assert measurement.case == case.name
        assert measurement.time_us == alone[case.dims["cols"] > 2000][case.name]
    assert {r.kernel.split(" [")[1] for r in evaluation.resources} == {"cols <= 2000]", "otherwise]"}


@pytest.mark.slow
@pytest.mark.parametrize("when", ["cols <= 8192", "rows * cols < 1", "rows > 4000000"])
def test_a_wrong_arm_is_refused_also_where_no_case_is_served_by_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler_cache: Path, when: str
) -> None:
    """An arm is right for all shapes of the task or it is no arm: its condition keeps it from no case."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    assert WRONG != TUNABLE
    (tmp_path / "best.hip").write_text(file((WRONG, when), (TUNABLE, "")))
    assert run_command(["check", "best.hip", "--task", "row_softmax", "--json"]) == 1
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (answer["accepted"], answer["stage"]) == (False, "correct")
    assert f"variant '{when}', part part_0" in answer["findings"][0]["message"]


@pytest.mark.slow
def test_a_judge_that_is_handed_the_whole_refuses_it() -> None:
    lab = evaluator(0)
    prepared = lab.prepare(file((NAIVE, "cols <= 2000"), (TUNABLE, "")), SOFTMAX)
    for evaluation in (
        lab.compile(prepared),
        lab.verify(prepared),
        lab.benchmark(prepared),
        lab.estimate(prepared),
        lab.confirm(prepared),
    ):
        assert (evaluation.verdict.accepted, evaluation.verdict.stage) == (False, "parse")


@pytest.mark.slow
def test_the_machine_code_of_one_part_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "best.hip").write_text(file((NAIVE, "cols <= 2000"), (TUNABLE, "")))
    assert run_command(["isa", str(tmp_path / "best.hip")]) == 2
    assert "holds several kernels" in capsys.readouterr().err


def pair(judge: GpuEvaluator, task: Task) -> Prepared:
    """A slow kernel for shapes that no benchmark case has, and a quick one for the rest."""
    return judge.prepare(file((source(), "n <= 2000"), (source(kernel="quicker"), "")), task)


@pytest.mark.slow
def test_a_gpu_times_each_case_with_its_kernel(judge: GpuEvaluator, task: Task) -> None:
    evaluation = asking(judge)("estimate", pair(judge, task))
    assert evaluation.verdict.accepted, evaluation.verdict
    (time,) = evaluation.measurements
    assert (time.kind, time.time_us) == ("measured", pytest.approx(0.9 * SLOW_US, rel=0.05))
    assert not judge.benchmark(pair(judge, task)).verdict.accepted, "a judge takes one kernel"


@pytest.mark.slow
@pytest.mark.long
def test_a_gpu_verifies_both_kernels_before_it_times_them(judge: GpuEvaluator, task: Task) -> None:
    evaluation = asking(judge)("benchmark", pair(judge, task))
    assert evaluation.verdict.accepted, evaluation.verdict
    assert {row.role for row in evaluation.cases} == {"test", "held_out", "benchmark"}
    assert len({row.name for row in evaluation.cases}) == len(evaluation.cases)


@pytest.mark.slow
@pytest.mark.long
def test_a_gpu_compares_what_serves_each_case_in_turns(judge: GpuEvaluator, task: Task) -> None:
    single = judge.prepare(source(), task)
    plain = Comparison("key", "whole", "single", "undecided", 1.0, 1.0, 1.0)
    comparison = compared(judge.compare, pair(judge, task), single, plain)
    assert comparison.verdict == "faster"
    assert comparison.ratio == pytest.approx(0.9, rel=0.02)


@pytest.mark.slow
def test_a_gpu_refuses_a_wrong_arm_that_serves_no_case(judge: GpuEvaluator, task: Task) -> None:
    wrong = source("if (i < n) y[i] = 1.5f * x[i];", kernel="quicker")
    evaluation = asking(judge)("verify", judge.prepare(file((wrong, "n > 1000000"), (source(), "")), task))
    assert (evaluation.verdict.accepted, evaluation.verdict.stage) == (False, "correct")


QUADS = """/*+++
requires = "cols % 4 == 0"

[[launch]]
kernel = "quads"
grid   = ["rows"]
block  = [64]
args   = ["x", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void quads(
    const float4* __restrict__ x, float4* __restrict__ y, int cols) {
    const int lane = threadIdx.x, count = cols / 4;
    x += (long)blockIdx.x * count;
    y += (long)blockIdx.x * count;
    float top = -INFINITY, sum = 0.0f;
    for (int j = lane; j < count; j += 64) {
        const float4 v = x[j];
        top = fmaxf(fmaxf(fmaxf(top, v.x), fmaxf(v.y, v.z)), v.w);
    }
    for (int step = 32; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
    for (int j = lane; j < count; j += 64) {
        const float4 v = x[j];
        sum += expf(v.x - top) + expf(v.y - top) + expf(v.z - top) + expf(v.w - top);
    }
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    for (int j = lane; j < count; j += 64) {
        const float4 v = x[j];
        y[j] = make_float4(expf(v.x - top) / sum, expf(v.y - top) / sum, expf(v.z - top) / sum, expf(v.w - top) / sum);
    }
}
"""


def table(arm: str, general: str = NAIVE) -> str:
    text = dispatch_text([Variant("arm"), Variant("rest")], {"arm": arm, "rest": general})
    assert text is not None
    return text


@pytest.mark.slow
def test_the_lab_verifies_a_special_arm_inside_its_condition_and_the_rest_by_the_general_one() -> None:
    lab = evaluator(0)
    ask, prepared = asking(lab), lab.prepare(table(QUADS), SOFTMAX)
    evaluation = ask("verify", prepared)
    assert evaluation.verdict.accepted, evaluation.verdict
    names = {row.name: row for row in evaluation.cases}
    inside = [row for name, row in names.items() if name.endswith("[requires cols % 4 == 0]")]
    assert sum(row.role == "held_out" for row in inside) >= 3
    shapes = [name for name in names if name.endswith("[requires cols % 4 == 0]") and "cols=" in name]
    columns = [int(name.split("cols=")[1].split(" ")[0].split(",")[0]) for name in shapes]
    assert all(count % 4 == 0 for count in columns)
    assert {"rows=1,cols=15 [otherwise]", "rows=1,cols=17 [otherwise]"} <= names.keys(), "beside the threshold"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "general", "message"),
    [
        (QUADS.replace('requires = "cols % 4 == 0"\n', 'requires = "cols % 2 == 0"\n'), NAIVE, "part arm"),
        (QUADS.replace("/ sum)", "/ (cols == 16 ? 1 : sum))"), NAIVE, "part arm"),
        (QUADS, NAIVE.replace("row_softmax(", "row_softmax(", 1).replace("y[", "y[cols == 17 ? 0 : ", 1), "part rest"),
    ],
)
def test_the_lab_refuses_an_arm_that_is_wrong_inside_its_condition_or_beside_it(
    arm: str, general: str, message: str
) -> None:
    lab = evaluator(0)
    evaluation = asking(lab)("verify", lab.prepare(table(arm, general), SOFTMAX))
    assert not evaluation.verdict.accepted
    assert message in evaluation.verdict.findings[0].message


@pytest.mark.slow
def test_a_kernel_for_some_shapes_is_no_candidate_by_itself() -> None:
    lab = evaluator(0)
    evaluation = asking(lab)("verify", lab.prepare(QUADS, SOFTMAX))
    assert (evaluation.verdict.accepted, evaluation.verdict.stage) == (False, "parse")
    assert evaluation.verdict.findings[0].line == 2
