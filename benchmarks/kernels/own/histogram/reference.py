"""Counts of values."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw half of the values spread evenly, half close to one of them."""
    n, bins = case.dims["n"], case.dims["bins"]
    values = rng.integers(bins, size=n)
    near = np.abs(rng.standard_normal(n) * bins / 16).astype(np.int64) % bins
    return {"values": np.where(rng.random(n) < 0.5, values, near).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute exactly."""
    return {"counts": np.bincount(inputs["values"], minlength=case.dims["bins"]).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute exactly."""
    return {"counts": np.bincount(inputs["values"], minlength=case.dims["bins"]).astype(np.int32)}
