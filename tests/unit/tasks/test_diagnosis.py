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
