"""Sums of rows."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"])).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"s": inputs["x"].astype(np.float64).sum(axis=1)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision, one number after the other."""
    return {"s": np.cumsum(inputs["x"], axis=1, dtype=np.float32)[:, -1]}
