"""Positive part of each element."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal(case.dims["n"]).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": np.maximum(inputs["x"].astype(np.float64), 0.0)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": np.maximum(inputs["x"], np.float32(0.0))}
