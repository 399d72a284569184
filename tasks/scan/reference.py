"""Inclusive running sums of each row."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, an outlier at a random place of every row."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= rng.uniform(4, 16, rows).astype(np.float32)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": np.cumsum(inputs["x"], axis=1, dtype=np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one element after the other."""
    return {"y": np.cumsum(inputs["x"], axis=1, dtype=np.float32)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make sums that only grow, and rows that are zero but for one element."""
    x = inputs["x"]
    steps = np.zeros_like(x)
    steps[np.arange(len(x)), rng.integers(x.shape[1], size=len(x))] = np.float32(3)
    return {"positive": {"x": np.abs(x)}, "steps": {"x": steps}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Return sums from elsewhere than the row's start, exclusive ones, and carries left out or with fewer digits."""
    x = inputs["x"]
    y = np.cumsum(x, axis=1, dtype=np.float32)
    tiles = np.arange(x.shape[1]) // 64 * 64
    found = {
        "the exclusive sums": y - x,
        "the sums from the end": np.cumsum(x[:, ::-1], axis=1, dtype=np.float32)[:, ::-1],
        "each tile of 64 on its own": y - (y - x)[:, tiles],
        "along the columns": np.cumsum(x, axis=0, dtype=np.float32),
        "on from row to row": np.cumsum(x, dtype=np.float32).reshape(x.shape),
        "the sums in bfloat16": y.astype(ml_dtypes.bfloat16).astype(np.float32),
    }
    return {name: {"y": made} for name, made in found.items()}
