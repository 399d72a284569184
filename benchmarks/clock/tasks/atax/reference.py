"""A matrix and its transpose, applied to a vector."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    n = case.dims["n"]
    return {"a": rng.standard_normal((n, n), dtype=np.float32), "x": rng.standard_normal(n, dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    a = inputs["a"].astype(np.float64)
    return {"y": a.T @ (a @ inputs["x"])}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one term after the other as the kernels add."""
    a, n = inputs["a"], case.dims["n"]
    product, y = np.zeros_like(inputs["x"]), np.zeros_like(inputs["x"])
    for j in range(n):
        product += a[:, j] * inputs["x"][j]
    for i in range(n):
        y += a[i] * product[i]
    return {"y": y}
