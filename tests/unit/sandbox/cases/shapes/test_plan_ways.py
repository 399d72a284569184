"""Shapes for the patterns of conditions that a plan gives its launches."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.prepare import Prepared, prepare
from sandbox.cases.shapes import plan_ways
from sandbox.cases.shapes.many_shapes import shapes
from sandbox.cases.shapes.plan_ways import COUNT, MOST_COST, MOST_TEXT, plan_way_cases, whole_cost
from tasks.held_out import cost
from tasks.loader import load_task

TASK = load_task("transpose")
LAUNCH = """[[launch]]
kernel = "{kernel}"
grid   = ["ceil_div(cols, 32)", "ceil_div(rows, 8)"]
block  = [32, 8]
args   = ["x", "y", "rows", "cols"]
{when}
"""
KERNEL = 'extern "C" __global__ void {kernel}(const float* x, float* y, int rows, int cols) {{}}\n'
KNOWN = (*TASK.tests, *TASK.benchmarks)


def planned(*conditions: str) -> Prepared:
    names = [f"k{number}" for number in range(len(conditions))]
    rows = zip(names, conditions, strict=True)
    tables = "".join(LAUNCH.format(kernel=n, when=f'when = "{c}"' if c else "") for n, c in rows)
    return prepare(f"/*+++\n{tables}+++*/\n" + "".join(KERNEL.format(kernel=n) for n in names), TASK)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("conditions", "hole"),
    [
        (("rows * cols <= 4000000", "rows * cols > 4194304"), lambda r, c: 4000000 < r * c <= 4194304),
        (("rows * cols < 1048576", "rows * cols > 1048576"), lambda r, c: r * c == 1048576),
        (("rows < 100 or cols >= 300", "rows >= 100 and cols < 299"), lambda r, c: r >= 100 and c == 299),
    ],
)
def test_a_hole_between_conditions_gets_a_case(conditions: tuple[str, ...], hole: object, seed: int) -> None:
    cases = plan_way_cases(planned(*conditions), seed, KNOWN)
    assert 0 < len(cases) <= COUNT
    assert any(hole(case.dims["rows"], case.dims["cols"]) for case in cases)  # type: ignore[operator]
    assert {case.role for case in cases} == {"held_out"}


def test_patterns_that_known_cases_have_and_plans_without_conditions_get_none() -> None:
    assert plan_way_cases(planned(""), 0, KNOWN) == ()
    meeting = planned("rows * cols <= 1000", "rows * cols > 1000")
    first = plan_way_cases(meeting, 0, ())
    assert len(first) == 2
    assert plan_way_cases(meeting, 0, first) == ()


def test_a_pattern_gets_a_shape_as_large_as_is_affordable_or_else_the_cheapest() -> None:
    small, large = (
        [cost(TASK, case.dims) for case in plan_way_cases(planned(f"rows * cols {sign}"), 0, ())]
        for sign in ("% 7 == 0", "> 3000000")
    )
    assert len(small) == len(large) == 2
    assert all(whole_cost(TASK) / 2 < spent <= whole_cost(TASK) for spent in small)
    assert max(large) < MOST_COST / 4 and 8 * 3000000 < max(large) < 8 * 3100000


def test_many_long_conditions_are_evaluated_for_fewer_shapes() -> None:
    terms = "+".join(f"rows*{n}%{n + 94}" for n in range(3, 29))
    plan = planned(*(f"({terms})%{n} > 1" for n in range(5, 55))).candidate.plan
    conditions = plan_ways._Conditions(plan.launches, TASK, {})
    columns = shapes(TASK, np.random.default_rng(0))
    tried = sum(
        1 for dims in plan_ways._tried(conditions, columns, np.random.default_rng(0)) if conditions.pattern(dims)
    )
    assert tried and conditions.spent < 2 * MOST_TEXT
