"""What is counted of a launch stands for its work: idle workgroups, queues and chains, few workgroups that do all."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from records.evaluation import Evaluation
from sandbox.lab.counted_case import COUNTED, CountedCase
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task
from tests.support.lab_bench import evaluator

MI300X = load_target("mi300x")
TASK = """name = "rows"
title = "Rows"
description = "y = 2 x + 1"
targets = ["mi300x"]
input = [{ name = "x", dtype = "f32", shape = ["rows", "cols"] }]
output = [{ name = "y", dtype = "f32", shape = ["rows", "cols"] }]
test = [{ rows = 16, cols = 256 }]
benchmark = [{ rows = 8192, cols = 64 }]
[work]
flops = "2 * rows * cols"
bytes = "8 * rows * cols"
[tolerance]
ratio = 2.0
"""
REFERENCE = """import numpy as np
def make_inputs(case, rng):
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}
def reference(inputs, case):
    return {"y": 2 * inputs["x"].astype(np.float64) + 1}
def baseline(inputs, case):
    return {"y": 2 * inputs["x"] + 1}
"""
PLAN = """/*+++
{more}
[[launch]]
kernel = "k"
grid = ["{grid}"]
block = ["64"]
args = [{args}]
+++*/
#include <hip/hip_runtime.h>
__device__ inline void row(const float* x, float* y, int r, int cols) {{
    x += (long)r * cols, y += (long)r * cols;
    for (int j = threadIdx.x; j < cols; j += 64) y[j] = 2.0f * x[j] + 1.0f;
}}
"""
ARGUMENTS = '"x", "y", "rows", "cols"'
ZEROED = """[workspace]
flag = ["i32", "rows"]
[[launch]]
kernel = "zero"
grid = ["ceil_div(rows, 64)"]
block = ["64"]
args = ["flag", "rows"]"""
ZERO = """
extern "C" __global__ void zero(int* flag, int rows) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < rows) flag[i] = 0;
}
"""


def plain(grid: str, body: str) -> str:
    head = 'extern "C" __global__ void k(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {'
    return PLAN.format(more="", grid=grid, args=ARGUMENTS) + f"{head}\n    const int b = blockIdx.x;\n    {body}\n}}\n"


def flagged(grid: str, body: str) -> str:
    head = 'extern "C" __global__ void k(const float* __restrict__ x, float* y, int rows, int cols, int* flag) {'
    plan = PLAN.format(more=ZEROED, grid=grid, args=f'{ARGUMENTS}, "flag"')
    return f"{plan}{ZERO}{head}\n    const int b = blockIdx.x;\n    {body}\n}}\n"


ONE_EACH = plain("rows", "row(x, y, b, cols);")
PERSISTENT = plain("304", "for (int r = b; r < rows; r += gridDim.x) row(x, y, r, cols);")


@cache
def task() -> Task:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("task.toml", TASK), ("reference.py", REFERENCE), ("seed.hip", ONE_EACH)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return load_task(Path(folder))


@cache
def counted(source: str) -> Evaluation:
    judge = evaluator(7)
    return judge.estimate(judge.prepare(source, task()))


def us(estimate: Evaluation) -> float:
    assert estimate.verdict.accepted, estimate.verdict.findings
    return estimate.measurements[0].time_us


@pytest.mark.parametrize(
    ("grid", "row"),
    [
        pytest.param(
            *("4 * rows", "b < rows / 2 ? b : b - (gridDim.x - rows) < rows / 2 ? -1 : b - (gridDim.x - rows)"),
            id="idle in the middle",
        ),
        pytest.param(
            *("4 * rows", "b < gridDim.x / 3 || b >= gridDim.x / 3 + rows ? -1 : b - gridDim.x / 3"),
            id="idle at the ends",
        ),
        pytest.param("2 * rows", "b < rows ? b : -1", id="idle behind"),
        pytest.param("500 * rows", "b - (gridDim.x - rows)", id="one in five hundred", marks=pytest.mark.long),
    ],
)
def test_a_grid_padded_with_idle_workgroups_costs_what_its_work_does(grid: str, row: str) -> None:
    padded, honest = counted(plain(grid, f"const int r = {row}; if (r >= 0) row(x, y, r, cols);")), counted(ONE_EACH)
    for name in ("TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "SQ_INSTS_VMEM_RD"):
        assert padded.counters[name] == pytest.approx(honest.counters[name], rel=0.02), name
    assert us(padded) == pytest.approx(us(honest), rel=0.1)


def test_work_that_a_first_launch_hides_among_idle_workgroups_is_counted() -> None:
    copy = (
        'extern "C" __global__ void copy(const float* w, float* y, int cols) {\n'
        "    const long at = (long)blockIdx.x * cols;\n"
        "    for (int j = threadIdx.x; j < cols; j += 64) y[at + j] = w[at + j];\n}\n"
    )
    launch = '[[launch]]\nkernel = "copy"\ngrid = ["rows"]\nblock = ["64"]\nargs = ["w", "y", "cols"]\n+++*/'
    times = {}
    for grid, row in (("rows", "b"), ("4 * rows", "b < rows / 2 ? b : b - 3 * rows < rows / 2 ? -1 : b - 3 * rows")):
        text = plain(grid, f"const int r = {row}; if (r >= 0) row(x, y, r, cols);").replace(
            '"y", "rows"', '"w", "rows"'
        )
        workspace = '/*+++\n[workspace]\nw = ["f32", "rows", "cols"]\n'
        times[grid] = counted(text.replace("+++*/", launch, 1).replace("/*+++\n", workspace, 1) + copy)
    assert us(times["4 * rows"]) == pytest.approx(us(times["rows"]), rel=0.15)


def test_few_workgroups_that_do_everything_are_as_slow_as_the_units_they_keep_busy() -> None:
    few = counted(plain("rows", "if (b < 16) for (int r = b; r < rows; r += 16) row(x, y, r, cols);"))
    alone = counted(plain("16", "for (int r = b; r < rows; r += 16) row(x, y, r, cols);"))
    assert us(few) == pytest.approx(us(alone), rel=0.2) and us(few) > 3 * us(counted(PERSISTENT))
    assert "Only 16 of 304 compute units" in few.explanation


def test_work_that_accesses_nothing_is_work() -> None:
    turns = 'float a = b; for (int i = 0; i < ({}); ++i) a = a * 1.0001f + 1; asm volatile("" ::"v"(a));'
    few, nobody = (plain("rows", f"{turns.format(n)} row(x, y, b, cols);") for n in ("b < 128 ? 20000 : 1", "1"))
    assert us(counted(few)) > 5 * us(counted(nobody))


def test_idle_workgroups_that_end_in_an_atomic_operation_are_idle() -> None:
    body = "{} atomicAdd(flag + b % 64, 0);"
    padded = counted(flagged("4 * rows", body.format("if (b < rows) row(x, y, b, cols);")))
    honest = counted(flagged("rows", body.format("row(x, y, b, cols);")))
    assert 0.8 * us(honest) < us(padded) < 2 * us(honest)


def test_launches_that_write_parts_of_an_output_are_not_the_whole_each() -> None:
    head = 'extern "C" __global__ void k(const float* __restrict__ x, float* __restrict__ y, int cols, int first) {'
    first = PLAN.format(more="", grid="rows // 2", args='"x", "y", "cols", 0')
    second = first[first.index("[[launch]]") : first.index("+++*/")].replace('"cols", 0', '"cols", "rows // 2"')
    halves = first.replace("+++*/", f"{second}+++*/", 1)
    assert us(counted(f"{halves}{head} row(x, y, first + blockIdx.x, cols); }}")) < 1.8 * us(counted(ONE_EACH))


def test_a_queue_is_taken_to_be_shared_evenly() -> None:
    body = """__shared__ int mine;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) mine = atomicAdd(flag, 1);
        __syncthreads();
        if (mine >= rows) return;
        row(x, y, mine, cols);
    }"""
    queue, persistent = counted(flagged("304", body)), counted(PERSISTENT)
    for name in ("TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ"):
        assert queue.counters[name] == pytest.approx(persistent.counters[name], rel=0.1), name
    assert us(persistent) < us(queue) < 5 * us(persistent)  # as many atomic operations on one line as rows


def test_workgroups_that_wait_for_others_are_counted_without_their_waiting() -> None:
    body = """row(x, y, b, cols);
    if (threadIdx.x == 0 && b > 0)
        while (__hip_atomic_load(flag + b - 1, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
            __builtin_amdgcn_s_sleep(1);
    __syncthreads();
    if (threadIdx.x == 0) __hip_atomic_store(flag + b, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);"""
    chain, honest = counted(flagged("rows", body)), counted(ONE_EACH)
    one_look_each = honest.counters["TCP_TCC_READ_REQ"] + 8192
    assert chain.counters["TCP_TCC_READ_REQ"] == pytest.approx(one_look_each, rel=0.1)
    assert chain.counters["TCP_TCC_ATOMIC_REQ"] <= 2 * 8192


def test_to_rank_fewer_workgroups_are_met_and_even_work_is_as_much() -> None:
    judge = evaluator(7)
    prepared = judge.prepare(ONE_EACH, task())
    built = judge.stages(prepared).program().built
    assert built is not None
    case = task().benchmarks[0]
    inputs = tuple(b for b in judge._inputs_of(task()).of(case).buffers if b.role == "input")
    exact, rough = (CountedCase(judge._lab, built, case, inputs, 1, 3, is_rough=rough).run() for rough in (False, True))
    assert exact[1] == rough[1] == ()
    assert rough[0][0].counters == exact[0][0].counters
    assert COUNTED < rough[0][0].spread.executed < exact[0][0].spread.executed / 2


def test_uneven_work_is_counted_at_more_places() -> None:
    more = "for (int i = 0; i < {}; ++i) row(x, y, b, cols);"
    uneven, twice = (
        counted(plain("rows", more.format("(b % 16 == 5 ? 17 : 1)"))),
        counted(plain("rows", more.format("2"))),
    )
    reads = uneven.counters["SQ_INSTS_VMEM_RD"] / twice.counters["SQ_INSTS_VMEM_RD"]
    assert 0.6 < reads < 2  # of a wide draw, of which 1 in 16 does 17 times as much


@pytest.mark.parametrize("multiplier", [2654435769, 2246822519, 3266489917])
def test_few_that_do_far_more_are_counted_wherever_they_stand(multiplier: int) -> None:
    far = f"const int turns = (b * {multiplier}u) >> 28 == 6 ? 61 : 1;"
    uneven = counted(plain("rows", f"{far} for (int i = 0; i < turns; ++i) row(x, y, b, cols);"))
    assert 2 < uneven.counters["SQ_INSTS_VMEM_RD"] / counted(ONE_EACH).counters["SQ_INSTS_VMEM_RD"] < 10


def test_rows_that_several_workgroups_write_are_counted_as_often_as_they_are_written() -> None:
    four = counted(plain("rows", "for (int i = 0; i < 4; ++i) row(x, y, (b + i) % rows, cols);"))
    for name in ("SQ_INSTS_VMEM_RD", "TCP_TCC_WRITE_REQ"):
        assert four.counters[name] == pytest.approx(4 * counted(ONE_EACH).counters[name], rel=0.1), name


def after(body: str, times: int) -> str:
    """The rows, each made so many times, and a second launch of as many workgroups that runs this body."""
    source = plain("rows", f"for (int i = 0; i < {times}; ++i) row(x, y, b, cols);")
    launch = f'[[launch]]\nkernel = "second"\ngrid = ["rows"]\nblock = ["64"]\nargs = [{ARGUMENTS}]\n+++*/'
    head = 'extern "C" __global__ void second(const float* x, float* y, int rows, int cols) {'
    return f"{source.replace('+++*/', launch, 1)}{head}\n    const int b = blockIdx.x;\n    {body}\n}}\n"


@pytest.mark.parametrize(
    "has_work",
    [
        pytest.param("cols > 64", id="none", marks=pytest.mark.long),
        pytest.param("b % 199 == 7", id="one in two hundred"),
    ],
)
def test_a_launch_with_little_to_do_on_a_shape_is_beside_one_that_is_too_long_to_count_whole(has_work: str) -> None:
    idle = counted(after(f"if ({has_work}) row(x, y, b, cols);", 3_000))
    assert idle.verdict.accepted, idle.verdict.findings


def test_one_workgroup_that_works_among_idle_ones_of_a_second_launch_is_counted() -> None:
    hidden = counted(after("if (b == 4321) for (int r = 0; r < rows; ++r) row(x, y, r, cols);", 1))
    assert hidden.counters["SQ_INSTS_VMEM_RD"] == pytest.approx(
        2 * counted(ONE_EACH).counters["SQ_INSTS_VMEM_RD"], rel=0.1
    )


@pytest.mark.long
def test_sixty_launches_are_counted_each() -> None:
    body = "for (int r = b * 60 + part; r < rows; r += gridDim.x * 60) row(x, y, r, cols);"
    once = plain("ceil_div(rows, 60)", body).replace(
        "int rows, int cols) {\n    const", "int rows, int cols, int part) {\n    const"
    )
    launch = once[once.index("[[launch]]") : once.index("+++*/")]
    sixty = "".join(launch.replace('"cols"]', f'"cols", {part}]') for part in range(60))
    sixty_times = counted(once.replace(launch, sixty))
    assert us(sixty_times) > sixty_times.measurements[0].resources_us["launch"] > 60 * MI300X.clock["next_launch_us"]
    assert sixty_times.counters["TCP_TCC_WRITE_REQ"] == pytest.approx(
        counted(ONE_EACH).counters["TCP_TCC_WRITE_REQ"], rel=0.02
    )


def test_what_comes_late_is_counted_though_the_records_are_full() -> None:
    """A filler in LDS, by two lanes of each wave, makes more accesses than are recorded, before the work."""
    work = "for (int j = 0; j < 4096; ++j) sum += x[((long)j * 4099 + threadIdx.x * 64 + b) % ((long)rows * cols)];"
    store = "if (sum == 1.25f) y[b] = sum; row(x, y, b, cols);"
    filler = (
        "__shared__ volatile float pad[64]; pad[threadIdx.x] = 0.0f; if (threadIdx.x < 2) "
        "for (int q = 0; q < 70000; ++q) pad[threadIdx.x] = sum += pad[threadIdx.x];"
    )
    late, alone = (counted(plain("rows", f"float sum = 0.0f; {first} {work} {store}")) for first in (filler, ""))
    assert us(late) > us(alone)
    for name in ("TCP_TOTAL_ACCESSES", "SQ_INSTS_VMEM_RD"):
        assert late.counters[name] == pytest.approx(alone.counters[name], rel=0.1), name


def test_an_input_that_scalar_loads_read_asks_for_no_more_places() -> None:
    judge, gelu = evaluator(7), load_task("bias_gelu", "mi300x")
    prepared = judge.prepare(gelu.seeds[0].read_text(encoding="utf-8"), gelu)
    built, case = judge.stages(prepared).program().built, gelu.benchmarks[0]
    assert built is not None
    inputs = tuple(b for b in judge._inputs_of(gelu).of(case).buffers if b.role == "input")
    launches, findings = CountedCase(judge._lab, built, case, inputs, 1, 3, is_rough=True).run()
    assert findings == () and launches[0].spread.loaded["bias"] == 0
    assert launches[0].recorded <= COUNTED
