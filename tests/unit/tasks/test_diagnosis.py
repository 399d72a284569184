"""What a failed comparison is said to be, where two descriptions fit."""

from __future__ import annotations

import numpy as np

from tasks.compare import compare
from tasks.tolerance import Tolerance


def test_a_symmetric_output_that_is_not_accurate_enough_is_not_called_transposed() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((200, 5))
    reference = np.asarray(x.T @ x)
    baseline = reference.astype(np.float32)
    coarse = (reference * (1 + 3e-6 * rng.uniform(-1, 1, reference.shape))).astype(np.float32)
    found = compare(coarse, reference, baseline, Tolerance(2.0))
    assert not found.correct and "not accurate enough" in found.message and "transposed" not in found.message


def test_elements_beyond_what_the_task_allows_of_each_are_told_by_that() -> None:
    rng = np.random.default_rng(3)
    reference = rng.standard_normal((40, 50))
    reference[7, 3] = 1e-5  # terms that cancel
    baseline = (reference + 1e-6 * rng.uniform(-1, 1, reference.shape)).astype(np.float32)
    near = (reference + 1e-6 * rng.uniform(-1, 1, reference.shape)).astype(np.float32)
    near[7, 3] = 1.1e-5
    found = compare(near, reference, baseline, Tolerance(8.0, rtol=0.001, atol=1e-8))
    assert not found.correct and "the standard" not in found.message
    assert "further off than the task's rtol and atol allow of each" in found.message
    assert "[7, 3]: got 1.1e-05, expected 1e-05" in found.message


def test_a_line_of_zeros_is_not_taken_for_another_line_that_is_zero() -> None:
    """Most rows are zero, so that a column without the others' row looks like one that is zero anyway."""
    reference = np.zeros((6, 40))
    reference[2, 8:] = 1 + np.arange(32)
    right = reference.astype(np.float32)
    emptied, moved = right.copy(), right.copy()
    emptied[2] = 0
    emptied[4, 0] = 7  # and another mistake
    found = compare(emptied, reference, right, Tolerance(4.0))
    assert not found.correct and "wrong order" not in found.message
    moved[2, 10:] = right[2, 9:-1]
    found = compare(moved, reference, right, Tolerance(4.0))
    assert found.pattern == "moved" and "holds the values of column" in found.message


def test_a_row_of_zeros_is_told_before_columns_that_happen_to_look_like_others() -> None:
    reference = np.tile(np.array([[1.0], [2.0], [3.0], [4.0], [5.0]]), 64)
    reference[1, 32:], reference[1, :32] = np.arange(1, 33), 0  # all columns are alike but for one row
    right = reference.astype(np.float32)
    emptied = right.copy()
    emptied[1] = 0
    found = compare(emptied, reference, right, Tolerance(4.0))
    assert found.pattern == "zero_rows" and "1 of 5 rows are zero, from row 1 to row 1" in found.message
