"""Gate, sigmoid, product and conversion to FP8."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, and a scale that few results exceed."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    return {
        "x": (2 * rng.standard_normal((rows, 2 * cols))).astype(np.float16),
        "scale": rng.uniform(0.05, 0.2, 1).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _activated(inputs, case, np.dtype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once."""
    return {"y": _activated(inputs, case, np.dtype(np.float32)).astype(ml_dtypes.float8_e4m3fnuz)}


def _activated(inputs: Tensors, case: Case, dtype: np.dtype[np.floating]) -> Array:
    x, unit = inputs["x"].astype(dtype), dtype.type(1.0)
    gate, up = x[:, : case.dims["cols"]], x[:, case.dims["cols"] :]
    return np.asarray(np.clip(gate / (unit + np.exp(-gate)) * up / inputs["scale"].astype(dtype), -240, 240))
