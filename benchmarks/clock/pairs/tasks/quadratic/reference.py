"""A quadratic form."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values about one, so that the sum has no cancellation."""
    n, m = case.dims["n"], case.dims["m"]
    drawn = {"y": rng.uniform(0.5, 1.5, n), "a": rng.uniform(0.5, 1.5, (n, m))}
    return {**drawn, "x": rng.uniform(0.5, 1.5, m)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"result": (inputs["y"] @ inputs["a"] @ inputs["x"]).reshape(1)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute one row after the other."""
    total = np.float64(0)
    for y, row in zip(inputs["y"], inputs["a"], strict=True):
        total += y * np.cumsum(row * inputs["x"])[-1]
    return {"result": np.array([total])}
