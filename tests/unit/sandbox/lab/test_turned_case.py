"""Comparisons of one candidate that are turned one after the other, by what it compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

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


def turned(evaluator: LabEvaluator, task: Task, wrong: str) -> TurnedCases | None:
    built, inputs = evaluator._build(evaluator.prepare(kernel(wrong), task))[1], evaluator._inputs_of(task)
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
    built = evaluator._build(evaluator.prepare(kernel("if (x[0] == 3.25f) sum = sum + 0.0f * cols;"), softmax))[1]
    assert built is not None
    prepared, builder = built.prepared, evaluator._lab._builder
    given = prepared.candidate, prepared.tunables, built.program
    assert replace(builder, recorded_s=-1.0).recording(*given) is None
    recorded = builder.recording(*given)
    assert recorded is not None and recorded.recorded_of == built.program.path
