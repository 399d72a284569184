"""Bias and the tanh form of GELU."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

ROOT = np.sqrt(2 / np.pi)


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values of both signs over the range in which GELU bends."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    return {
        "x": 2 * rng.standard_normal((rows, cols), dtype=np.float32),
        "bias": rng.standard_normal(cols, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    v = inputs["x"].astype(np.float64) + inputs["bias"].astype(np.float64)
    return {"y": 0.5 * v * (1 + np.tanh(ROOT * (v + 0.044715 * v**3)))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    v = inputs["x"] + inputs["bias"]
    cubic = v + np.float32(0.044715) * v * v * v
    return {"y": np.float32(0.5) * v * (np.float32(1) + np.tanh(np.float32(ROOT) * cubic))}
