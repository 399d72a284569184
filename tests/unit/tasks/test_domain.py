"""Conditions on dims: what they say, the part of a task that meets one, and the shapes beside its thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from records.errors import PlanError
from tasks.domain import LEAST, admits, atoms, edges, meets, shapes_within, with_edges, within
from tasks.held_out import held_out_cases
from tasks.loader import load_task
from tasks.manifest import case_name

SOFTMAX, FP8 = load_task("row_softmax"), load_task("fp8_block_gemm")
CONDITIONS = [
    (SOFTMAX, "cols % 4 == 0"),
    (SOFTMAX, "cols <= 1024"),
    (SOFTMAX, "cols > 4000 and cols % 64 == 0"),
    (SOFTMAX, "rows * cols % 4 == 0"),
    (SOFTMAX, "rows * cols > 33000000"),
    (SOFTMAX, "rows >= 2048 and cols < 2000"),
    (FP8, "k >= 2048"),
    (FP8, "m * n <= 4000000 and k % 256 == 0"),
]


def test_a_condition_is_met_by_shapes() -> None:
    assert meets("", {"rows": 3})
    assert meets("rows * cols <= 12 and cols % 4 == 0", {"rows": 3, "cols": 4})
    assert not meets("rows * cols <= 11 and cols % 4 == 0", {"rows": 3, "cols": 4})
    assert not meets("rows * cols <= 12 and cols % 4 == 0", {"rows": 2, "cols": 6})
    assert [(a.names, a.low, a.high, a.step) for a in atoms("cols < 9 and rows * cols > 3 and rows % 8 == 0")] == [
        (("cols",), 1, 8, 1),
        (("rows", "cols"), 4, 2**62, 1),
        (("rows",), 1, 2**62, 8),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "cols == 4",
        "cols",
        "cols <= 4 or rows <= 4",
        "cols % 0 == 0",
        "cols % 1024 == 0",
        "cols % 4 == 2",
        "4 >= cols",
        "cols <= 4 and ",
        " and ".join(["cols <= 4"] * 9),
        "__import__('os') <= 1",
        "cols <= -4",
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        atoms(text)


@pytest.mark.parametrize(("task", "condition"), CONDITIONS)
def test_a_part_of_a_task_is_what_meets_the_condition(task: object, condition: str) -> None:
    assert isinstance(task, type(SOFTMAX))
    part = within(task, condition)
    assert [c.name for c in part.benchmarks] == [c.name for c in task.benchmarks if meets(condition, c.dims)]
    assert {c.name for c in task.tests if meets(condition, c.dims)} <= {c.name for c in part.tests}
    assert part.tests
    assert all(admits(part, dims) for dims in (*(c.dims for c in part.tests), *part.edges))
    assert (part.origin, part.digest != task.digest) == (task.digest, True)
    assert within(part, condition) is part


@pytest.mark.parametrize(("task", "condition"), CONDITIONS)
@pytest.mark.parametrize("seed", range(5))
def test_at_least_three_held_out_shapes_lie_in_it_and_all_do(task: object, condition: str, seed: int) -> None:
    assert isinstance(task, type(SOFTMAX))
    part = within(task, condition)
    cases = held_out_cases(part, seed)
    listed = {c.name for c in (*part.tests, *part.benchmarks)}
    assert cases == held_out_cases(part, seed)
    assert all(admits(part, case.dims) and case.role == "held_out" for case in cases)
    assert len({case.name for case in cases} - listed - {f"{name} (new inputs)" for name in listed}) >= 3
    assert {case_name(dims) for dims in part.edges} <= {case.name for case in cases}


def test_shapes_lie_on_both_sides_of_every_threshold() -> None:
    cols = [dims["cols"] for dims in edges(SOFTMAX, ["cols <= 1000"])]
    assert {999, 1000, 1001, 1002} <= set(cols)
    steps = [dims["cols"] for dims in edges(SOFTMAX, ["cols % 8 == 0"])]
    assert {32, 31, 33} <= set(steps)
    products = [dims["rows"] * dims["cols"] for dims in edges(SOFTMAX, ["rows * cols > 5000"])]
    assert 5000 in products
    assert 5001 in products
    both = edges(SOFTMAX, ["cols > 4000 and rows >= 1000"])
    assert any(d["cols"] == 4001 and d["rows"] >= 1000 for d in both), "beside one threshold, within the other"
    assert all(dims["k"] % 128 == 0 for dims in edges(FP8, ["k > 1000"])), "the dims' own multiples are kept"


def test_a_threshold_of_a_part_is_among_its_shapes() -> None:
    assert 2000 in {case.dims["cols"] for case in held_out_cases(within(SOFTMAX, "cols <= 2000"), 1)}
    assert 2001 in {case.dims["cols"] for case in held_out_cases(within(SOFTMAX, "cols > 2000"), 1)}
    table = with_edges(SOFTMAX, [{"rows": 3, "cols": 1001}])
    assert "rows=3,cols=1001" in {case.name for case in held_out_cases(table, 1)}
    assert with_edges(table, [{"rows": 3, "cols": 1001}]) is table
    assert table.digest != SOFTMAX.digest


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("cols <= 5", "no benchmark case"),
        ("cols >= 4096 and cols <= 4096 and rows >= 8192 and rows <= 8193", "leaves 1 unlisted shapes"),
        ("width <= 5", "unknown name 'width'"),
    ],
)
def test_a_condition_that_leaves_little_is_refused(condition: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        within(SOFTMAX, condition)


def test_a_part_with_no_test_of_its_own_has_shapes_in_their_place() -> None:
    part = within(SOFTMAX, "rows >= 2048 and cols >= 1024")
    assert len(part.tests) == 3
    assert len(shapes_within(part, np.random.default_rng(3), LEAST)) == LEAST
