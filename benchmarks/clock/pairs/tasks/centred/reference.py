"""Rows without their means."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"])).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    x = inputs["x"].astype(np.float64)
    return {"y": x - x.mean(axis=1, keepdims=True)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision."""
    x = inputs["x"]
    return {"y": x - x.mean(axis=1, keepdims=True, dtype=np.float32)}
