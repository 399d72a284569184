"""Comparisons of one candidate that are turned one after the other, by what it compared."""

from __future__ import annotations

import secrets
from dataclasses import replace

import numpy as np
import pytest

from sandbox.lab.driven_case import ways_of
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Judge, Patience
from sandbox.lab.searched_case import spent_s, turned_cases
from sandbox.lab.turned_case import TurnedCases
from tasks.loader import load_task
from tasks.task import Task
from tests.support.lab_bench import evaluator as lab_evaluator
from tests.unit.sandbox.lab.test_family_case import kernel

PROBES = "x[0] == x[9] && x[5] == x[2] && x[7] > 77.5f && x[30] < -77.5f && x[11] == 0.0f"
LOOPED = "bool same = true; for (int j = 0; j < 16; ++j) same &= x[j * cols / 16] == x[0];"
MERGED = "unsigned any = 0; for (int j = 0; j < 8; ++j) any |= __float_as_uint(x[j * cols / 8]);"


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7, Patience())


@pytest.fixture(scope="module")
def softmax() -> Task:
    whole = load_task("row_softmax")
    return replace(whole, tests=whole.tests[3:5])


RMS = """/*+++
[[launch]]
kernel = "rows_"
grid   = ["ceil_div(rows, 64)"]
block  = [64]
args   = ["x", "w", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>
__device__ float wide(unsigned short bits) {{ return __uint_as_float((unsigned)bits << 16); }}
extern "C" __global__ void rows_(const unsigned short* x, const unsigned short* w, unsigned short* y, int rows,
                                 int cols, float eps) {{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) sum += wide(x[j]) * wide(x[j]);
    {wrong}
    for (int j = 0; j < cols; ++j) {{
        const unsigned bits = __float_as_uint(wide(x[j]) / sqrtf(sum / cols + eps) * wide(w[j]));
        y[(long)row * cols + j] = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    }}
}}
"""


def turned(evaluator: LabEvaluator, task: Task, wrong: str, text: str = "") -> TurnedCases | None:
    source = text.format(wrong=wrong) if text else kernel(wrong)
    built, inputs = evaluator._build(evaluator.prepare(source, task))[1], evaluator._inputs_of(task)
    assert built is not None
    judge = Judge(evaluator._lab, built, known=inputs.listed)
    made = turned_cases(judge, inputs, spent_s(evaluator._lab))
    return made and replace(made, most=120, is_in_time=lambda: True, rng=np.random.default_rng(3))


@pytest.mark.parametrize(
    "wrong",
    [
        f"if ({PROBES}) sum *= 2.0f;",  # each is met only where those before it have turned
        f"{LOOPED} if (same) sum = cols;",
        f"{MERGED} if (any == 0) sum *= 2.0f;",  # which loads it rests on is known at run time alone
    ],
)
def test_comparisons_that_rest_on_each_other_are_turned_in_turn(
    evaluator: LabEvaluator, softmax: Task, wrong: str
) -> None:
    cases = turned(evaluator, softmax, wrong)
    assert cases is not None
    row, findings = cases.run()
    assert row is not None and [finding.kind for finding in findings] == ["wrong_result"]


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        ("rms_norm", "if (sum < 3e-7f * cols) sum = 0.0f;"),  # the number is the same each time, though not in the code
        ("rms_norm", "if (sum > 1e15f * cols) sum = 1e15f * cols;"),
        ("row_softmax", "for (int j = 0; j < cols; ++j) if (x[j] - x[0] > 1e8f) sum *= 2.0f;"),
    ],
)
def test_a_comparison_with_a_number_comes_to_one_outcome_everywhere(
    evaluator: LabEvaluator, task: str, wrong: str
) -> None:
    whole = load_task(task)
    small = replace(whole, tests=whole.tests[3:5])
    cases = turned(evaluator, small, wrong, RMS if task == "rms_norm" else "")
    assert cases is not None and ways_of(cases.judge.built.program.conditions) == 1
    row, findings = cases.run()
    assert row is not None and [finding.kind for finding in findings] == ["wrong_result"]


def test_what_turns_and_is_right_is_accepted(evaluator: LabEvaluator, softmax: Task) -> None:
    cases = turned(evaluator, softmax, f"if ({PROBES}) sum = sum + 0.0f * cols;")
    assert cases is not None
    cases = replace(cases, most=40)
    row, findings = cases.run()
    assert (row, findings) == (None, ()) and cases.begun == 40 and cases.met > 20
    program = cases.judge.built.program
    seen = [evaluator._lab.outcomes.of(program.recorded_of, mark) for mark in range(len(program.conditions))]
    assert seen.count(3) >= 4  # noted for the program that does not record


def test_where_nothing_is_compared_or_may_be_changed_nothing_is_turned(evaluator: LabEvaluator, softmax: Task) -> None:
    assert turned(evaluator, softmax, "") is None
    assert turned(evaluator, replace(softmax, plant=(), digest=64 * "9"), "if (x[0] > 9.0f) sum *= 2.0f;") is None


def test_a_program_that_takes_too_long_to_build_once_more_is_not_recorded(
    evaluator: LabEvaluator, softmax: Task
) -> None:
    number = secrets.randbelow(1 << 20)  # a program that an earlier run of the tests has left takes no time
    built = evaluator._build(evaluator.prepare(kernel(f"if (x[0] == {number}.25f) sum = sum + 0.0f * cols;"), softmax))[
        1
    ]
    assert built is not None
    prepared, builder = built.prepared, evaluator._lab._builder
    given = prepared.candidate, prepared.tunables, built.program
    assert replace(builder, recorded_s=-1.0).recording(*given) is None
    recorded = builder.recording(*given)
    assert recorded is not None and recorded.recorded_of == built.program.path
