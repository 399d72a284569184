"""Finite impulse response filter."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    sizes = {"x": case.dims["n"], "coeff": case.dims["taps"], "history": case.dims["taps"]}
    return {name: rng.standard_normal(size).astype(np.float32) for name, size in sizes.items()}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _filtered(inputs, case, np.dtype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, tap by tap."""
    return {"y": _filtered(inputs, case, np.dtype(np.float32))}


def _filtered(inputs: Tensors, case: Case, dtype: np.dtype[np.floating]) -> Array:
    n, taps = case.dims["n"], case.dims["taps"]
    samples = np.concatenate([inputs["history"], inputs["x"]]).astype(dtype)
    total = np.zeros(n, dtype)
    for i in range(taps):
        total += inputs["coeff"][i].astype(dtype) * samples[taps - i : taps - i + n]
    return total
