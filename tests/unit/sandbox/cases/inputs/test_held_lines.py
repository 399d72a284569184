"""Lines of numbers that no ordinary kernel holds are not made, and such numbers among others are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.held_lines import HELD, has_alike_lines, with_held_lines
from sandbox.cases.inputs.searched import SearchedInputs
from tasks.loader import load_task


def test_a_line_of_nothing_else_stays_as_it_was_drawn_along_any_axis() -> None:
    drawn = {name: np.ones((3, 4), np.float32) for name in ("rows", "columns")} | {"n": np.ones(3, np.int32)}
    changed = {name: x.copy() for name, x in drawn.items()}
    changed["rows"][1], changed["rows"][0, 0], changed["n"][0] = -2e30, -1e30, 7
    changed["columns"][:, 2] = 3e29
    restored = with_held_lines(changed, drawn)
    assert (restored["rows"][1] == 1).all() and restored["rows"][0, 0] == np.float32(-1e30)
    assert (restored["columns"] == 1).all() and restored["n"] is changed["n"]


def test_what_was_not_changed_or_is_held_is_not_copied() -> None:
    drawn = {"x": np.full(4, 1e30, np.float32), "y": np.ones(4, np.float32)}
    restored = with_held_lines({"x": drawn["x"], "y": drawn["y"] * 2}, drawn)
    assert restored["x"] is drawn["x"] and (restored["y"] == 2).all()


def test_no_try_of_a_task_that_computes_has_such_a_line_and_some_hold_such_a_number() -> None:
    task = load_task("row_softmax")
    searched = SearchedInputs(InputFamilies(task), [-1e30], 77)
    case = replace(task.tests[3], role="held_out", seed=5)
    tries = [np.abs(searched.draw(case, f"search {number}")["x"].astype(np.float64)) for number in range(80)]
    assert not any((size > HELD).all(axis=axis).any() for size in tries for axis in (0, 1))
    assert sum(bool((size > HELD).any()) for size in tries) > 8


def test_a_line_whose_values_hardly_differ_is_told_from_others() -> None:
    usual = np.random.default_rng(3).standard_normal((4, 64)).astype(np.float32)
    for row, is_alike in (
        (np.float32(6e9), True),
        (usual[1] + np.float32(1e6), True),
        (usual[1] + 100, False),
        (0, False),
    ):
        x = usual.copy()
        x[1] = row
        assert has_alike_lines({"x": x}, ["x"]) == is_alike
        assert not has_alike_lines({"x": x}, ["w"])
    assert not has_alike_lines({"x": usual[:, :1], "n": np.ones((2, 64), np.int32)}, ["x", "n"])


def test_a_search_judges_nobody_by_lines_of_which_one_pass_keeps_only_rounding() -> None:
    task = load_task("layer_norm")
    case = replace(task.tests[0], role="held_out", seed=5)
    searched, inputs = SearchedInputs(InputFamilies(task), [], 7), dict(task.draw(case))
    for row, is_sound in ((inputs["x"][1], True), (np.float32(6.4e9), False)):
        inputs["x"] = inputs["x"].copy()
        inputs["x"][1] = row
        want = task.expected(inputs, case)
        assert searched.is_sound(case, "search 0", inputs, *want) == is_sound
