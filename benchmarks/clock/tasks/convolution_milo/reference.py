"""Convolution with a filter of 15 by 15."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    side = case.dims["n"] + 14
    return {"x": rng.standard_normal((side, side), dtype=np.float32), "w": rng.standard_normal(225, dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _filtered(inputs, case, np.dtype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one weight after the other."""
    return {"y": _filtered(inputs, case, np.dtype(np.float32))}


def _filtered(inputs: Tensors, case: Case, dtype: np.dtype[np.floating]) -> Array:
    n, x, w = case.dims["n"], inputs["x"].astype(dtype), inputs["w"].astype(dtype)
    y = np.zeros((n, n), dtype)
    for p in range(15):
        for q in range(15):
            y += x[p : p + n, q : q + n] * w[15 * p + q]
    return y
