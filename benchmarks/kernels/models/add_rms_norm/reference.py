"""The sum of two bfloat16 matrices and the RMS norm of its rows."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BF16 = ml_dtypes.bfloat16
EPS = 1e-6


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw rows of different scale with outliers, and weights of both signs about 1."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    scale = (10.0 ** rng.uniform(-3, 1, (rows, 1))).astype(np.float32)
    x, r = (rng.standard_normal((rows, cols), dtype=np.float32) * scale for _ in range(2))
    x[np.arange(rows), rng.integers(cols, size=rows)] *= 8
    w = 1 + 0.5 * rng.standard_normal(cols, dtype=np.float32)
    return {"x": x.astype(BF16), "r": r.astype(BF16), "w": w.astype(BF16)}


def _computed(inputs: Tensors, kind: type[np.floating]) -> dict[str, Array]:
    x, r, w = (inputs[name].astype(kind) for name in ("x", "r", "w"))
    s = x + r
    mean = np.mean(s * s, axis=1, keepdims=True, dtype=kind)
    return {"s": s, "y": s / np.sqrt(mean + kind(EPS)) * w}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the bfloat16 inputs."""
    return _computed(inputs, np.float64)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    return {name: value.astype(BF16) for name, value in _computed(inputs, np.float32).items()}
