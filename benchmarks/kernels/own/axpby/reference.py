"""Weighted sum of two float32 vectors."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

ALPHA, BETA = np.float32(1.75), np.float32(-0.625)  # as in [scalars]


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    n = case.dims["n"]
    return {name: rng.standard_normal(n, dtype=np.float32) for name in ("x", "y")}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    x, y = inputs["x"].astype(np.float64), inputs["y"].astype(np.float64)
    return {"z": np.float64(ALPHA) * x + np.float64(BETA) * y}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"z": ALPHA * inputs["x"] + BETA * inputs["y"]}
