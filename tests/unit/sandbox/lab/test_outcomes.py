"""What is remembered of a program's comparisons over its executions."""

from __future__ import annotations

from typing import cast

import numpy as np

from sandbox.lab.build.conditions import DataCondition
from sandbox.lab.build.lab_program import LabProgram
from sandbox.lab.outcomes import Outcomes
from tests.support.lab_bench import HEAD, build, execute, lab, launch


class Program:
    """As much of a program as is looked at."""

    path = "/programs/1"
    conditions = (
        DataCondition(1, 5),
        DataCondition(1, 5),
        DataCondition(2, 1),
        DataCondition(3, 3),
        DataCondition(4, 1),
    )


SOURCE = "if (v < 1) {}\nx > 2\n  __builtin_x(v)\nlast"


def test_a_place_has_both_outcomes_where_any_of_its_marks_do_in_any_execution() -> None:
    outcomes, program = Outcomes(), cast("LabProgram", Program())
    assert outcomes.one_sided(program, SOURCE) == ()
    outcomes.note(program.path, "1")
    (one,) = outcomes.one_sided(program, SOURCE)
    assert (one.line, one.column, one.text) == (1, 5, "if (v < 1) {}")
    outcomes.note(program.path, "0212")  # the second mark of the first place is true; what was not reached is none
    assert [one.line for one in outcomes.one_sided(program, SOURCE)] == [2]  # a builtin's own is left out
    outcomes.note(program.path, "002")
    assert outcomes.one_sided(program, SOURCE) == ()
    outcomes.note("/programs/2", "3")
    assert outcomes.one_sided(program, SOURCE) == ()


def test_an_execution_notes_what_its_comparisons_met() -> None:
    source = 'extern "C" __global__ void k(const float* x, float* y) { y[0] = x[0] < 3.5f ? 1.0f : x[0] > 9.0f; }'
    one = [launch("k", ["x", "y"], block=(1,))]
    program = build(HEAD + source, one)
    for value, left in ((1.0, 1), (4.0, 1), (10.0, 0)):
        execute(source, one, {"x": np.array([value], np.float32)}, {"y": np.zeros(1, np.float32)})
        assert len(lab().outcomes.one_sided(program, HEAD + source)) == left
