"""Product of bfloat16 matrices."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, an outlier at a random place of every row."""
    m, n, k = (case.dims[name] for name in ("m", "n", "k"))
    a, b = (rng.standard_normal((rows, k), dtype=np.float32) for rows in (m, n))
    for matrix in (a, b):
        matrix[np.arange(len(matrix)), rng.integers(k, size=len(matrix))] *= np.float32(4)
    return {"a": a.astype(ml_dtypes.bfloat16), "b": b.astype(ml_dtypes.bfloat16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64).T}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    c = inputs["a"].astype(np.float32) @ inputs["b"].astype(np.float32).T
    return {"c": c.astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make products that nearly cancel, and rows of very different scale, some beyond float16's range either way."""
    a, b = inputs["a"], inputs["b"]
    turned, flat = a.copy(), b.copy()
    turned[:, 1::2], flat[:, 1::2] = -a[:, ::2], b[:, ::2] * np.float32(1.25)
    scale = (10.0 ** rng.uniform(-12, 6, (len(a), 1))).astype(np.float32)
    return {
        "cancelling": {"a": turned, "b": flat.astype(b.dtype)},
        "scaled": {"a": (a * scale).astype(a.dtype), "b": b},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Return operands with fewer digits than bfloat16 has, sums that overflow or lose small terms, other products."""
    a, b = (inputs[name].astype(np.float32) for name in ("a", "b"))
    tiny = [v.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) for v in (a, b)]
    c, total = a @ b.T, np.zeros((len(a), len(b)), ml_dtypes.bfloat16)
    for k in range(a.shape[1]):
        total += np.outer(a[:, k], b[:, k]).astype(total.dtype)
    found = {
        "operands in float8": tiny[0] @ tiny[1].T,
        "sums in bfloat16": total,
        "the magnitudes": np.abs(a) @ np.abs(b).T,
        "no negative values": np.maximum(c, 0),
        "half of the products, twice": 2 * (a[:, ::2] @ b[:, ::2].T),
    }
    return {name: {"c": made.astype(ml_dtypes.bfloat16)} for name, made in found.items()}
