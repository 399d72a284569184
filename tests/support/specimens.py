"""Small real records for tests: assignments, specimens, evaluations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.author import Assignment, Idea, Member, Specimen
from records.evaluation import CaseResult, Evaluation, Finding, Measurement, Resources, Verdict
from records.experiment import Attempt, Experiment
from tasks.loader import load_task
from tasks.task import Task

TASKS = ("row_softmax", "rms_norm", "transpose", "fp8_block_gemm")
TILED_TRANSPOSE = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = ["32", "8"]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][32];  // "a string in a comment with } and for ("
    const int column = blockIdx.x * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        if (blockIdx.y * 32 + i < rows && column < cols)
            tile[i][threadIdx.x] = x[(long)(blockIdx.y * 32 + i) * cols + column];
    __syncthreads();
    const int row = blockIdx.y * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += blockDim.y) {
        const int out = blockIdx.x * 32 + i;
        if (out < cols && row < rows) y[(long)out * rows + row] = tile[threadIdx.x][i];
    }
}
"""


def assignment(name: str = "row_softmax", arch: str = "gfx942") -> Assignment:
    return Assignment(load_task(name), "A GPU with 304 compute units.", "mi300x", arch, 7)


def seeds() -> list[tuple[str, Path]]:
    """Every shipped seed with its task's name."""
    return [(name, path) for name in TASKS for path in load_task(name).seeds]


def specimen(task: Task, source: str, generation: int = 0, bound: str = "hbm") -> Specimen:
    """A kernel with plausible evidence."""
    evaluation = evidence(task, bound)
    parent = "g000-e0-a0" if generation else None
    experiment = Experiment(
        f"g{generation:03d}-e0", "run-1", generation, 0, parent, None, "the seed", "as shipped", ("one",)
    )
    identity = (f"{experiment.id}-a0", "run-1", experiment.id, generation, 0)
    attempt = Attempt(*identity, "c" * 64, "d" * 64, "accepted", "key", parent, lesson="a first lesson")
    attempt = replace(attempt, geomean_us=100.0, time_kind="predicted")
    parents = {m.case: 2 * m.time_us for m in evaluation.measurements} if generation else {}
    return Specimen(attempt, experiment, source, evaluation, parents)


def evidence(task: Task, bound: str) -> Evaluation:
    """The evaluation of a right kernel with a time for each benchmark case."""
    measured = []
    for number, case in enumerate(task.benchmarks):
        resources = {"hbm": 100.0 + number, "lds": 3.5}
        row = (case.name, 100.0 + number, "predicted", "lab:mi300x", 100.0, 100.0)
        measured.append(Measurement(*row, bound=bound, resources_us=resources, roofline_us=20.0))
    registers = (Resources("k", 64, 0, 32, 0, 0, 8, {"valu": 12}),)
    right, counters = Verdict("time", True, "OK"), {"SQ_LDS_BANK_CONFLICT": 1234.0}
    why = "line 9 reads a whole line for each value"
    return Evaluation("key", "c" * 64, {}, right, registers, (), tuple(measured), counters, why, "o" * 64, 1.0)


def idea(move: str = "", title: str = "wider loads") -> Idea:
    rubric = ("load 16 bytes a lane", "guard the tail")
    return Idea(title, "HBM binds; wider loads need fewer requests", rubric, 5, 40, 30, move)


def compiled(waves: int = 4) -> Evaluation:
    """An evaluation of a kernel that compiles and was not executed."""
    resources = (Resources("k", 128, 0, 32, 0, 64, waves, {"valu": 12}),)
    return Evaluation("key", "e" * 64, {}, Verdict("compile", True, "OK"), resources)


def failed(line: int = 3) -> Evaluation:
    """An evaluation with a compiler's message and a wrong case."""
    return Evaluation(
        "key",
        "e" * 64,
        {},
        Verdict(
            "compile",
            False,
            "B.2",
            (Finding("compile_error", "use of undeclared identifier 'rwo'; did you mean 'row'?", line, "k"),),
        ),
        cases=(
            CaseResult("rows=7,cols=1000", "test", False, 9.5, message="element 3 is 0"),
            CaseResult("rows=1,cols=1", "test", True),
        ),
    )


def member(identifier: str, time_us: float, strategy: str = "B64", parent: str | None = None) -> Member:
    return Member(identifier, parent, f"title of {identifier}", time_us, "predicted", {"rows=1": time_us}, strategy)
