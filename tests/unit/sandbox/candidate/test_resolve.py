"""A plan on a case: numbers, buffers and scalars, and the choices of tunables that hold on every case."""

from __future__ import annotations

import pytest

from records.errors import PlanError
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import BufferArg, ScalarArg, choices, resolve
from tests.support.plans import PLAN, a_task, source


def test_resolves_numbers_and_arguments() -> None:
    task = a_task()
    plan = resolve(parse(source()), task, task.tests[0], {"ROWS": 2})
    first, second = plan.launches
    assert (first.grid, first.block, first.lds_bytes, first.threads) == ((4, 1, 1), (128, 1, 1), 8, 128)
    assert first.args == (
        BufferArg("x"),
        BufferArg("part"),
        ScalarArg("i32", 7),
        ScalarArg("i64", 1000),
        ScalarArg("f32", 1e-6),
    )
    assert (second.grid, second.block, second.lds_bytes) == ((7, 2, 1), (64, 2, 1), 0)
    assert second.args[2] == ScalarArg("i32", 2)
    assert plan.workspaces == {"part": ("f32", (7, 4))}


@pytest.mark.parametrize(
    ("old", "new", "dims", "tunables", "message"),
    [
        (
            '"ceil_div(rows, ROWS)"',
            '"rows - 7"',
            {},
            {},
            r"grid of sums is 0 \(rows - 7\) on the case rows=7,cols=1000",
        ),
        ('"64 * ROWS"', '"rows - 9"', {}, {}, "block of sums is -2"),
        ('"4 * ROWS"', '"rows - 9"', {}, {}, "lds of sums is -2"),
        ('"rows", 4]', '"rows - 7"]', {}, {}, r"the workspace part has the shape \(0,\)"),
        ('"rows", 4]', '"rows * 1000000000"]', {}, {}, "the workspace part is larger than 8 GiB"),
        (
            '"rows", 4]',
            "4]",
            {"rows": 2**31},
            {},
            "rows is 2147483648, too .* write rows:i64 in the launch of sums on the case",
        ),
        ("", "", {}, {"ROWS": 3}, r"the tunable ROWS may not be 3; its values are \[4, 1, 2, 8\]"),
        ("", "", {}, {"ROWZ": 1}, "the plan has no tunable 'ROWZ'"),
        ("", "", {"cols": 5000}, {}, "the constraint fits .* does not hold"),
    ],
)
def test_refuses_sizes_that_cannot_be(
    old: str, new: str, dims: dict[str, int], tunables: dict[str, int], message: str
) -> None:
    task = a_task(({"rows": 7, "cols": 1000, **dims},))
    with pytest.raises(PlanError, match=message):
        resolve(parse(source(PLAN.replace(old, new) if old else PLAN)), task, task.tests[0], tunables)


def test_choices_keep_the_default_first_and_obey_the_constraints_on_every_case() -> None:
    task = a_task(({"rows": 1, "cols": 4000}, {"rows": 9, "cols": 10}))
    assert choices(parse(source()), task) == ({"ROWS": 4}, {"ROWS": 1}, {"ROWS": 2})


def test_choices_are_capped() -> None:
    many = "\n".join(f"T{i} = [0, 1, 2, 3]" for i in range(12))
    listed = choices(parse(source(PLAN.replace("ROWS = [4, 1, 2, 8]", f"ROWS = [4]\n{many}"))), a_task())
    assert len(listed) == 4096
    assert set(listed[0].values()) == {0, 4}
