"""Tunables that some shapes do not allow make an arm for the others; a constraint that is no condition makes none."""

from __future__ import annotations

import pytest

from sandbox.candidate.narrowed import condition_of, narrowed
from sandbox.candidate.prepare import prepare
from tasks.domain import meets
from tasks.expressions import evaluate
from tasks.loader import load_task

TASK = load_task("row_softmax")
DIMS = frozenset({"rows", "cols"})
PLAN = """/*+++
[[launch]]
kernel = "k"
grid   = ["rows"]
block  = [64]
args   = ["x", "y", "cols"]

[tunables]
VEC = [1, 2, 4]
ROWS = [1, 8]

[constraints]
whole = "cols % VEC == 0"
fits = "ROWS * VEC <= 16"
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* x, float* y, int cols) {}
"""


@pytest.mark.parametrize(
    ("constraint", "values", "condition"),
    [
        ("cols % VEC == 0", {"VEC": 4}, "cols % 4 == 0"),
        ("rows * cols % (64 * VEC) == 0", {"VEC": 4}, "cols * rows % 256 == 0"),
        ("4 * cols % 16 == 0", {}, "cols % 4 == 0"),
        ("ROWS * cols <= 4096", {"ROWS": 8}, "cols <= 512"),
        ("ROWS * cols < 4096", {"ROWS": 8}, "cols <= 511"),
        ("16384 >= cols * ROWS + 7", {"ROWS": 3}, "cols <= 5459"),
        ("rows * cols > 100 * ROWS", {"ROWS": 3}, "cols * rows >= 301"),
        ("cols >= 64 * ROWS", {"ROWS": 3}, "cols >= 192"),
        ("2 * cols + rows <= 9", {}, None),
        ("ceil_div(cols, 4) <= 9", {}, None),
        ("cols % rows == 0", {}, None),
        ("cols % 1000 == 0", {}, None),
        ("cols == 1024", {}, None),
        ("cols != 7", {}, None),
        ("cols % 4", {}, None),
    ],
)
def test_a_constraint_at_a_choice_is_a_condition_where_it_can_be(
    constraint: str, values: dict[str, int], condition: str | None
) -> None:
    remaining = condition_of(constraint, values, DIMS)
    assert remaining == condition
    for rows in (1, 2, 3, 7, 64, 100):
        for cols in (*range(1, 40), 191, 192, 193, 511, 512, 513, 5459, 5460):
            dims = {"rows": rows, "cols": cols}
            assert remaining is None or meets(remaining, dims) == bool(evaluate(constraint, {**dims, **values}))


def test_an_arm_has_the_choice_as_its_default_and_says_where_it_is_right() -> None:
    arms = dict((tuple(choice.values()), text) for choice, text in narrowed(prepare(PLAN, TASK)))
    assert arms.keys() == {(2, 1), (4, 1)}, "one that all shapes allow is the tuner's; one that none allows is nobody's"
    prepared = prepare(arms[4, 1], TASK)
    assert prepared.refusal is None
    assert (prepared.requires, prepared.tunables["VEC"]) == ("cols % 4 == 0", 4)
    assert {case.dims["cols"] % 4 for case in prepared.task.benchmarks} == {0}
    assert list(narrowed(prepared)) == [], "of an arm no arm is made"
