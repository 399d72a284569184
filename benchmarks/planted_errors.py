"""Right kernels of five shipped tasks with one error each, at a random place of a random benchmark case.

The error is in one workgroup, in one row, in one strip of the reduction, wherever a dim reaches the benchmark, or in
one call of n.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.kept_rows import Row
from records.evaluation import Evaluation
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task

TARGET = "mi300x"
DEAR = ("fp8_block_gemm",)  # hosts of which one confirmation takes minutes
KINDS = ("one workgroup", "one row", "one strip", "a range of shapes", "one call in n")
STRIPS = 16
CALLS = "__device__ unsigned calls;\n"
COUNT = "const unsigned call = {first} ? calls++ : 0u;\n    "


@dataclass(frozen=True)
class Host:
    """A right kernel and the texts in it at which an error is planted."""

    seed: str
    store: tuple[str, str]  # the value that is stored, and the same made wrong where the macro WRONG holds
    term: tuple[str, str]  # one term of the reduction, and the same left out where the macro SKIPPED holds
    row: str  # of the output, in the kernel's words
    strip: tuple[str, str]  # the index along the reduction, and its length
    begin: str  # the text behind which the macros' names are all known, at the beginning of the kernel's body
    rows: str = "rows"  # the dim along which rows lie


HOSTS: Mapping[str, Host] = {
    "row_softmax": Host(
        "seed.hip",
        ("expf(x[j] - top) / sum;", "expf(x[j] - top) / sum * (WRONG ? 1.01f : 1.0f);"),
        ("sum += expf(x[j] - top);", "sum += SKIPPED ? 0.0f : expf(x[j] - top);"),
        "row",
        ("j", "cols"),
        "const int row = blockIdx.x * 64 + threadIdx.x;\n",
    ),
    "rms_norm": Host(
        "seed.hip",
        (
            "narrow(widen(x[j]) * scale * widen(w[j]));",
            "narrow(widen(x[j]) * scale * widen(w[j]) * (WRONG ? 1.1f : 1));",
        ),
        ("sum += widen(x[j]) * widen(x[j]);", "sum += SKIPPED ? 0.0f : widen(x[j]) * widen(x[j]);"),
        "row",
        ("j", "cols"),
        "const int row = blockIdx.x * 64 + threadIdx.x;\n",
    ),
    "transpose": Host(
        "seed.hip",
        ("= x[(long)i * cols + j];", "= x[(long)i * cols + j] * (WRONG || SKIPPED ? 1.01f : 1.0f);"),
        ("", ""),
        "i",
        ("j", "cols"),
        "const int i = blockIdx.y * 16 + threadIdx.y;\n",
    ),
    "batched_gemv": Host(
        "seed.hip",
        ("* m + i] = sum;", "* m + i] = sum * (WRONG ? 1.1f : 1.0f);"),
        ("sum += a[", "if (!(SKIPPED)) sum += a["),
        "i",
        ("j", "k"),
        "const int i = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;\n",
        "m",
    ),
    "fp8_block_gemm": Host(
        "seed.hip",
        ("to_bf16(total);", "to_bf16(total * (WRONG ? 1.1f : 1.0f));"),
        ("for (int kk = start; kk", "for (int kk = SKIPPED ? k : start; kk"),
        "i",
        ("start", "k"),
        "const int j = blockIdx.y * 16 + threadIdx.y;\n",
        "m",
    ),
}


def planted(name: str, kind: str, rng: random.Random) -> str:
    """Plant one error of this kind in the source of the task's right kernel."""
    host, task = HOSTS[name], load_task(name, TARGET)
    source = (task.folder / host.seed).read_text(encoding="utf-8")
    case = rng.choice(task.benchmarks)
    grid = prepare(source, task).plan(case).launches[0].grid
    in_case = " && ".join(f"{dim} == {length}" for dim, length in case.dims.items())
    wrong, skipped, count = "false", "false", ""
    if kind == "one workgroup":
        indices = zip("xyz", (rng.randrange(extent) for extent in grid), strict=True)
        wrong = " && ".join([in_case, *(f"blockIdx.{axis} == {index}" for axis, index in indices)])
    elif kind == "one row":
        wrong = f"{in_case} && {host.row} == {rng.randrange(case.dims[host.rows])}"
    elif kind == "one strip":
        index, length = host.strip
        skipped = f"{in_case} && {index} / (({length} + {STRIPS - 1}) / {STRIPS}) == {rng.randrange(STRIPS)}"
    elif kind == "a range of shapes":
        dim = rng.choice(sorted(case.dims))
        longest = max(test.dims[dim] for test in task.tests)
        larger = sorted({benchmark.dims[dim] for benchmark in task.benchmarks if benchmark.dims[dim] > longest})
        wrong = f"{dim} >= {rng.choice(larger)}" if larger else in_case
    else:
        wrong = f"call % {rng.randint(2, 100)} == 1"
        count = COUNT.format(first="blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0")
        wrong = f"({wrong})"
    return _with(source, host, wrong, skipped, count)


def _with(source: str, host: Host, wrong: str, skipped: str, count: str) -> str:
    for old, new in (host.store, host.term):
        source = source.replace(old, new) if old else source
    source = source.replace(host.begin, f"{host.begin}    {count}")
    head = f"#include <hip/hip_runtime.h>\n#define WRONG ({wrong})\n#define SKIPPED ({skipped})\n"
    return source.replace("#include <hip/hip_runtime.h>\n", head + (CALLS if count else ""))


def judged(evaluator: LabEvaluator, name: str, kind: str, number: int) -> Row:
    """Judge one wrong kernel: what finds it, and the processor time of both steps."""
    source = planted(name, kind, random.Random(f"{name} {kind} {number}"))
    prepared = evaluator.prepare(source, load_task(name, TARGET))
    evaluation, verify_s = _timed(evaluator, lambda: evaluator.verify(prepared))
    is_verified, confirm_s = not evaluation.verdict.accepted, 0.0
    if not is_verified:
        evaluation, confirm_s = _timed(evaluator, lambda: evaluator.confirm(prepared))
    is_found = not evaluation.verdict.accepted
    return {
        "task": name,
        "kind": kind,
        "verified": is_verified,
        "confirmed": is_found,
        "verify_s": verify_s,
        "confirm_s": confirm_s,
    }


def _timed(evaluator: LabEvaluator, step: Callable[[], Evaluation]) -> tuple[Evaluation, float]:
    begun_s = time.process_time() + evaluator.executors_s
    evaluation = step()
    return evaluation, time.process_time() + evaluator.executors_s - begun_s
