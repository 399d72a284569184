"""Residual connection, RMS norm and conversion to FP8."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, rows of different magnitude, and a scale that few values exceed."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    size = rng.uniform(0.25, 4, (rows, 1))
    return {
        "x": (size * rng.standard_normal((rows, cols))).astype(np.float16),
        "before": (size * rng.standard_normal((rows, cols))).astype(np.float16),
        "w": rng.standard_normal(cols).astype(np.float16),
        "scale": rng.uniform(0.02, 0.1, 1).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the sum on, which is rounded to float16."""
    r = (inputs["before"] + inputs["x"]).astype(np.float64)
    norm = np.sqrt((r**2).mean(axis=1, keepdims=True) + 1e-5)
    return {"r": r, "y": np.clip(r / norm * inputs["w"] / inputs["scale"].astype(np.float64), -240, 240)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, with the normalised values and their products in float16."""
    r = inputs["before"] + inputs["x"]
    norm = np.sqrt((r.astype(np.float32) ** 2).mean(axis=1, keepdims=True, dtype=np.float32) + np.float32(1e-5))
    y = (r.astype(np.float32) / norm).astype(np.float16) * inputs["w"]
    y = np.clip(y.astype(np.float32) / inputs["scale"], -240, 240)
    return {"r": r, "y": y.astype(ml_dtypes.float8_e4m3fnuz)}
