"""What else the outputs of a case may be, asked of its task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tasks.admission import Admission, Answers, compared
from tasks.loader import load_task
from tasks.roundings import admitted
from tasks.task import Array, Task


@pytest.fixture(scope="module")
def codes() -> Task:
    """Codes of a vector, in place of its SiLU."""
    task = load_task("bias_gelu")

    def of(kind: Any) -> Any:
        def compute(inputs: dict[str, Array], case: object) -> dict[str, Array]:
            return {"y": np.rint(inputs["x"].astype(kind) * kind(0.1)).astype(np.int32).astype(kind)}

        return compute

    return replace(
        task, reference=of(np.float64), baseline=of(np.float32), admit=admitted(of(np.float64), of(np.float32))
    )


def test_what_does_not_round_admits_the_reference_alone() -> None:
    task = load_task("row_softmax")
    case = task.tests[0]
    assert Admission(task, task.draw(case), case).of(task.outputs[0], 2.0) is None


def test_a_right_code_on_the_other_side_of_a_tie_is_accepted_and_no_other(codes: Task) -> None:
    case, (output,) = codes.tests[0], codes.outputs
    inputs = {"x": np.array([4.9999999, 15.0, 33.0, 41.0], np.float32)}
    answers = Answers(case, inputs, codes.reference(inputs, case), codes.baseline(inputs, case))
    for values, is_right in (([0, 2, 3, 4], True), ([1, 1, 3, 4], True), ([0, 2, 3, 5], False), ([2, 2, 3, 4], False)):
        assert compared(codes, output, np.array(values, np.int32), answers).correct is is_right


def test_a_reference_that_fails_under_watch_admits_itself_alone(codes: Task) -> None:
    def failing(inputs: object, case: object, ratio: float) -> Any:
        raise TypeError("no such array")

    case = codes.tests[0]
    assert Admission(replace(codes, admit=failing), {}, case).of(codes.outputs[0], 2.0) is None
