"""RMS normalisation of each row of a bfloat16 matrix."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

EPS = np.float32(1e-6)  # as in [scalars]: kernels get the same float32


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal rows of different scale, the smallest comparable with sqrt(eps), and weights of both signs."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    scale = (10.0 ** rng.uniform(-3, 1, (rows, 1))).astype(np.float32)
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    w = 1 + 0.5 * rng.standard_normal(cols, dtype=np.float32)
    return {"x": (x * scale).astype(ml_dtypes.bfloat16), "w": w.astype(ml_dtypes.bfloat16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float64 from the bfloat16 inputs."""
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    mean = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
    return {"y": x / np.sqrt(mean + np.float64(EPS)) * w}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float32 arithmetic, rounded once to bfloat16."""
    x, w = inputs["x"].astype(np.float32), inputs["w"].astype(np.float32)
    mean = np.mean(x * x, axis=1, keepdims=True, dtype=np.float32)
    y = x * (np.float32(1) / np.sqrt(mean + EPS)) * w
    return {"y": y.astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Rows where eps dominates, rows whose squares are huge, and rows without any contrast."""
    x, w = inputs["x"], inputs["w"]
    plain = rng.standard_normal(x.shape, dtype=np.float32)
    equal = np.broadcast_to(x[:, :1], x.shape)
    return {
        "tiny": {"x": (plain * np.float32(5e-4)).astype(x.dtype), "w": w},
        "large": {"x": (plain * np.float32(1e12)).astype(x.dtype), "w": w},
        "equal_rows": {"x": np.ascontiguousarray(equal), "w": w},
    }
