"""FP8 matrix product with one scale for 1 x 128 values of `a` and one for 128 x 128 values of `b`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BLOCK = 128


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, rounded to the target's fp8 when drawn; scales are normal too, so half of them are negative."""
    m, n, k = (case.dims[name] for name in "mnk")
    kb, nb = -(-k // BLOCK), -(-n // BLOCK)
    # Drawn transposed: the transpose of a row-major array is column-major, as the task wants it.
    return {
        "a": rng.standard_normal((k, m), dtype=np.float32).T,
        "b": rng.standard_normal((k, n), dtype=np.float32).T,
        "a_scale": rng.standard_normal((kb, m), dtype=np.float32).T,
        "b_scale": rng.standard_normal((kb, nb), dtype=np.float32).T,
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float64: dequantised exactly, multiplied by float64 BLAS."""
    return {"c": _product(inputs, np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float32: dequantised, multiplied block by block along k, rounded once to bfloat16."""
    return {"c": _product(inputs, np.float32).astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Small integers with scales of one, whose products are exact, and row scales from 2^-8 to 2^8."""
    a, b = inputs["a"], inputs["b"]
    ones = {name: np.ones_like(inputs[name]) for name in ("a_scale", "b_scale")}
    bits = {"a": rng.integers(0, 2, a.shape).astype(a.dtype), "b": rng.integers(0, 2, b.shape).astype(b.dtype)}
    row = np.exp2(rng.choice([-8, 0, 8], (a.shape[0], 1))).astype(np.float32)
    wide = {**inputs, "a_scale": np.ascontiguousarray(np.broadcast_to(row, inputs["a_scale"].shape))}
    return {"exact": {**bits, **ones}, "wide_scales": wide}


def _product(inputs: Tensors, dtype: type[np.floating[Any]]) -> Array:
    """Sum over the k-blocks of the dequantised products; a partial last block of b takes its own scale."""
    a, b, a_scale, b_scale = (inputs[name] for name in ("a", "b", "a_scale", "b_scale"))
    c = np.zeros((a.shape[0], b.shape[0]), dtype)
    for t in range(a_scale.shape[1]):
        part = slice(t * BLOCK, (t + 1) * BLOCK)
        of_b = np.repeat(b_scale[:, t], BLOCK)[: b.shape[0]]
        left = a[:, part].astype(dtype) * a_scale[:, t].astype(dtype)[:, None]
        right = b[:, part].astype(dtype) * of_b.astype(dtype)[:, None]
        c += left @ right.T
    return c
