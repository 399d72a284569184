"""A kernel that requires a condition on the shapes, judged on a real GPU: inside it, beside it, and by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from records.evaluation import Evaluation
from sandbox.candidate.dispatch import Variant, dispatch_text
from sandbox.dispatched import asking
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target
from tasks.loader import load_task

TARGET = load_target("h200")
TASK = load_task("row_softmax", TARGET.name)
REST = (Path(__file__).parents[2] / "tasks" / "row_softmax" / "seed.hip").read_text(encoding="utf-8")
QUADS = """/*+++
requires = "cols % 4 == 0"

[[launch]]
kernel = "quads"
grid   = ["ceil_div(rows, 64)"]
block  = [64]
args   = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void quads(const float4* __restrict__ x, float4* __restrict__ y, int rows, int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x, count = cols / 4;
    if (row >= rows) return;
    x += (long long)row * count;
    y += (long long)row * count;
    float top = -INFINITY, sum = 0.0f;
    for (int j = 0; j < count; ++j) top = fmaxf(fmaxf(fmaxf(top, x[j].x), fmaxf(x[j].y, x[j].z)), x[j].w);
    for (int j = 0; j < count; ++j)
        sum += expf(x[j].x - top) + expf(x[j].y - top) + expf(x[j].z - top) + expf(x[j].w - top);
    for (int j = 0; j < count; ++j)
        y[j] = make_float4(expf(x[j].x - top) / sum, expf(x[j].y - top) / sum,
                           expf(x[j].z - top) / sum, expf(x[j].w - top) / sum);
}
"""
pytestmark = pytest.mark.skipif(not device_indices(TARGET), reason="no H200 here")
Judged = Callable[[str], Evaluation]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    judge = GpuEvaluator(TARGET, tmp_path_factory.mktemp("judge"), 0)
    yield lambda source: asking(judge)("verify", judge.prepare(source, TASK))
    judge.close()


def table(arm: str, rest: str = REST) -> str:
    text = dispatch_text([Variant("arm"), Variant("rest")], {"arm": arm, "rest": rest})
    assert text is not None
    return text


def test_an_arm_is_verified_inside_its_condition_and_the_rest_everywhere(judged: Judged) -> None:
    made = judged(table(QUADS))
    assert made.verdict.accepted, made.verdict.findings
    inside = [row for row in made.cases if row.name.endswith("[requires cols % 4 == 0]")]
    assert sum(row.role == "held_out" for row in inside) >= 3


@pytest.mark.parametrize(
    "arm", [QUADS.replace("cols % 4 == 0", "cols % 2 == 0"), QUADS.replace("/ sum,", "/ (cols == 16 ? 1 : sum),", 1)]
)
def test_an_arm_that_is_wrong_inside_its_condition_is_refused(judged: Judged, arm: str) -> None:
    assert arm != QUADS
    assert not judged(table(arm)).verdict.accepted


def test_it_is_no_candidate_by_itself(judged: Judged) -> None:
    made = judged(QUADS)
    assert (made.verdict.accepted, made.verdict.stage) == (False, "parse")
