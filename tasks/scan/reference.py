"""Inclusive running sums of each row."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, an outlier at a random place of every row."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= rng.uniform(4, 16, rows).astype(np.float32)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float64."""
    return {"y": np.cumsum(inputs["x"], axis=1, dtype=np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float32, one element after the other."""
    return {"y": np.cumsum(inputs["x"], axis=1, dtype=np.float32)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Sums that only grow, and rows that are zero but for one element."""
    x = inputs["x"]
    steps = np.zeros_like(x)
    steps[np.arange(len(x)), rng.integers(x.shape[1], size=len(x))] = np.float32(3)
    return {"positive": {"x": np.abs(x)}, "steps": {"x": steps}}
