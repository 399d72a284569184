"""Layer normalisation."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

EPS = np.float32(1e-5)  # as in [scalars]


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw rows of different mean and scale, weights and shifts of both signs."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    scale = (10.0 ** rng.uniform(-2, 1, (rows, 1))).astype(np.float32)
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= rng.uniform(2, 8, rows).astype(np.float32)
    return {
        "x": (x + rng.standard_normal((rows, 1), dtype=np.float32)) * scale,
        "w": 1 + rng.standard_normal(cols, dtype=np.float32),
        "b": rng.standard_normal(cols, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _normalised(*(inputs[n].astype(np.float64) for n in ("x", "w", "b")))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": _normalised(inputs["x"], inputs["w"], inputs["b"])}


def _normalised(x: Array, w: Array, b: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True, dtype=x.dtype)
    variance = np.mean(centred * centred, axis=1, keepdims=True, dtype=x.dtype)
    return np.asarray(centred / np.sqrt(variance + x.dtype.type(EPS)) * w + b)
