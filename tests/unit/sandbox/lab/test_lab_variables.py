"""Variables of the device that the plan fills before a launch, as a host does through hipMemcpyToSymbol."""

from __future__ import annotations

from dataclasses import replace

from sandbox.lab.lab_verify import Patience
from tasks.loader import load_task
from tests.support.lab_bench import evaluator

TEXT = """/*+++
[[launch]]
symbol = {row = "x", "plan::cols" = ["cols:i64"], all = ["x", "rows", 1.0], shift = 0.0}
kernel = "softmax"
grid = ["rows"]
block = [1]
args = ["y"]
+++*/
#include <hip/hip_runtime.h>

__constant__ float row[4];
namespace plan { __device__ long cols; }
struct All {
    const float* x;
    int rows;
    float scale;
};
static __constant__ All all;
__constant__ float shift = 3.0f;

extern "C" __global__ void softmax(float* y) {
    if (blockIdx.x >= all.rows) return;
    const float* x = all.x + blockIdx.x * plan::cols;
    float top = blockIdx.x == 0 ? row[0] : x[0], sum = shift;
    for (long i = 0; i < plan::cols; i++) top = fmaxf(top, blockIdx.x == 0 && i < 4 ? row[i] : x[i]);
    for (long i = 0; i < plan::cols; i++) sum += expf(x[i] - top);
    for (long i = 0; i < plan::cols; i++) y[blockIdx.x * plan::cols + i] = all.scale * expf(x[i] - top) / sum;
}
"""


def verdict_of(text: str) -> str:
    lab, task = evaluator(7, Patience(searched_s=0.1)), load_task("row_softmax")
    case = replace(task.benchmarks[0], name="rows=64,cols=200", dims={"rows": 64, "cols": 200})
    # Such a plan is executed whole or not at all.
    task = replace(task, tests=task.tests[:2], benchmarks=(case,), variants=None, variant_names=())
    verdict = lab.verify(lab.prepare(text, task)).verdict
    return "accepted" if verdict.accepted else str([(f.kind, f.line, f.message) for f in verdict.findings])


def test_variables_hold_a_buffer_a_number_or_a_struct() -> None:
    assert verdict_of(TEXT) == "accepted"


def test_a_value_that_the_host_would_have_put_there_is_missed_where_the_plan_does_not() -> None:
    assert "wrong_result" in verdict_of(TEXT.replace(", shift = 0.0", ""))
    assert "wrong_result" in verdict_of(TEXT.replace("1.0]", "2.0]"))


def test_a_value_of_another_size_and_an_unknown_variable_are_refused_at_the_plan() -> None:
    assert "takes a value of 8 bytes" in verdict_of(TEXT.replace('"cols:i64"', '"cols"'))
    unknown = verdict_of(TEXT.replace("{row =", "{rows_of ="))
    assert "'compile_error', 3" in unknown and "'rows_of'" in unknown
