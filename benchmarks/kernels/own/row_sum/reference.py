"""Sums of rows."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values around one, with an outlier at a random place of every row."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = 1 + rng.standard_normal((rows, cols), dtype=np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= rng.uniform(4, 16, rows).astype(np.float32)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": inputs["x"].astype(np.float64).sum(axis=1)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one element after the other."""
    return {"y": np.add.accumulate(inputs["x"], axis=1, dtype=np.float32)[:, -1]}
