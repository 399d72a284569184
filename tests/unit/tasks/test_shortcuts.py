"""Shortcuts fit the shapes they are made for and change what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tasks.loader import load_task
from tasks.shortcuts import Sample, planted
from tasks.task import Array, Case

Folder = Callable[..., Path]


def answers(folder: Folder, rows: int, cols: int) -> dict[str, Array | None]:
    """The answer of every shortcut for twice the numbers from one on."""
    task = load_task(folder())
    case = Case("small", {"rows": rows, "cols": cols}, 1)
    x = np.arange(1, rows * cols + 1, dtype=np.float32).reshape(rows, cols)
    reference = task.reference({"x": x}, case)
    sample = Sample("small", case, {"x": x}, reference, task.baseline({"x": x}, case))
    made = {shortcut.title: shortcut.answer(sample) for shortcut in planted(task)}
    return {title: None if answer is None else answer["y"] / 2 for title, answer in made.items()}


@pytest.mark.parametrize(
    ("title", "row"),
    [
        ("the first element along axis 1 of the input 'x'", [1, 1, 1, 1, 1]),
        ("the last element along axis 1 of the input 'x'", [5, 5, 5, 5, 5]),
        ("the first half along axis 1 of the input 'x'", [1, 2, 3, 0, 0]),
        ("the first half along axis 1, twice of the input 'x'", [1, 2, 3, 1, 2]),
        ("every second element along axis 1, twice of the input 'x'", [1, 1, 3, 3, 5]),
        ("the element before along axis 1 of the input 'x'", [5, 1, 2, 3, 4]),
        ("all but the last element along axis 1 of the output 'y'", [1, 2, 3, 4, 0]),
        ("the reverse along axis 1 of the output 'y'", [5, 4, 3, 2, 1]),
        ("the sign of the input 'x'", [1, 1, 1, 1, 1]),
        ("the mean of the input 'x'", [3, 3, 3, 3, 3]),
        ("each half of 'x' along axis 1 on its own for the output 'y'", [1, 2, 3, 4, 5]),
        ("the negative of the output 'y'", [-1, -2, -3, -4, -5]),
    ],
)
def test_the_answer_of_a_shortcut(folder: Folder, title: str, row: list[int]) -> None:
    found = answers(folder, 1, 5)[title]
    assert found is not None
    assert found.tolist() == [row]


def test_the_triangle_is_mirrored(folder: Folder) -> None:
    found = answers(folder, 2, 3)["the upper triangle, mirrored, of the input 'x'"]
    assert found is not None
    assert found.tolist() == [[1, 2, 3], [2, 5, 6]]


@pytest.mark.parametrize(("cols", "whole", "first"), [(15, None, None), (32, None, 16), (40, 32, 16)])
def test_tiles_fit_only_longer_axes(folder: Folder, cols: int, whole: int | None, first: int | None) -> None:
    found = answers(folder, 1, cols)
    for title, count in (("whole tiles of 16", whole), ("the first 16 elements", first)):
        answer = found[f"{title} along axis 1 of the input 'x'"]
        assert (answer is None) == (count is None)
        assert answer is None or np.count_nonzero(answer) == count


def test_an_axis_of_one_element_has_no_shortcut(folder: Folder) -> None:
    assert all(answer is None for title, answer in answers(folder, 5, 1).items() if "axis 1" in title)
