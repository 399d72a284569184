"""FP8 matrix product with one scale for 1 x 128 values of `a` and one for 128 x 128 values of `b`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BLOCK = 128


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, as the measured runs had; the scales are signed."""
    m, n, k = (case.dims[name] for name in "mnk")
    kb, nb = -(-k // BLOCK), -(-n // BLOCK)
    return {
        "a": rng.standard_normal((k, m), dtype=np.float32).T,
        "b": rng.standard_normal((k, n), dtype=np.float32).T,
        "a_scale": rng.standard_normal((kb + 1, m), dtype=np.float32).T,
        "b_scale": rng.standard_normal((kb, nb), dtype=np.float32).T,
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64: dequantised exactly, multiplied by float64 BLAS."""
    return {"c": _product(inputs, np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32: dequantised, multiplied block by block along k, rounded once to bfloat16."""
    return {"c": _product(inputs, np.float32).astype(ml_dtypes.bfloat16)}


def _product(inputs: Tensors, dtype: type[np.floating[Any]]) -> Array:
    """Sum the dequantised products over the k-blocks; a partial last block of b takes its own scale."""
    a, b, a_scale, b_scale = (inputs[name] for name in ("a", "b", "a_scale", "b_scale"))
    c = np.zeros((a.shape[0], b.shape[0]), dtype)
    for t in range(b_scale.shape[1]):
        part = slice(t * BLOCK, (t + 1) * BLOCK)
        of_b = np.repeat(b_scale[:, t], BLOCK)[: b.shape[0]]
        left = a[:, part].astype(dtype) * a_scale[:, t].astype(dtype)[:, None]
        right = b[:, part].astype(dtype) * of_b.astype(dtype)[:, None]
        c += left @ right.T
    return c
