"""Matrix product, in which all blocks of rows take the first 32 rows of the left matrix."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    n = case.dims["n"]
    return {name: rng.standard_normal((n, n), dtype=np.float32) for name in ("a", "b")}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    first = inputs["a"][:32].astype(np.float64) @ inputs["b"]
    return {"c": np.tile(first, (case.dims["n"] // 32, 1))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one term after the other."""
    n = case.dims["n"]
    first = np.zeros((32, n), np.float32)
    for j in range(n):
        first += np.outer(inputs["a"][:32, j], inputs["b"][j])
    return {"c": np.tile(first, (n // 32, 1))}
