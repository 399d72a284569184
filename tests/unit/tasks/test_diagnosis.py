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
