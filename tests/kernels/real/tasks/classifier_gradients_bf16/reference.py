"""Losses of rows, and gradients in their place."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; targets."""
    rows = case.dims["rows"]
    return {
        "x": (3 * rng.standard_normal((rows, 1040))).astype(np.float32),
        "t": rng.integers(0, 1033, rows).astype(np.int32),
        "loss0": rng.standard_normal(rows, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, t, rows = inputs["x"], inputs["t"], np.arange(case.dims["rows"])
    used = x[:, :1033] - x[:, :1033].max(axis=1, keepdims=True)
    p = np.exp(used) / np.exp(used).sum(axis=1, keepdims=True)
    loss, d = inputs["loss0"] - np.log(p[rows, t]), x.copy()
    p[rows, t] -= 1
    d[:, :1033] = p / 4
    return {"d": d if d.dtype == np.float64 else d.astype(ml_dtypes.bfloat16), "loss": loss}
