"""Sums of digits in a base that the compiler does not know."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw numbers that are not negative, and a base."""
    x = rng.integers(0, 2**31, case.dims["n"])
    return {"x": x.astype(np.int32), "b": rng.integers(3, 16, 1).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the sums, which are exact."""
    x, y = inputs["x"].astype(np.int64), np.zeros(case.dims["n"], np.int32)
    base = int(inputs["b"][0])
    for _ in range(10):
        y += (x % base).astype(np.int32)
        x //= base
    return {"y": y}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the same."""
    return reference(inputs, case)
