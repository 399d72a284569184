"""Product of two small matrices."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    m, n, k = (case.dims[d] for d in ("m", "n", "k"))
    return {"a": rng.standard_normal((m, k), dtype=np.float32), "b": rng.standard_normal((k, n), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one term after the other."""
    a, b = inputs["a"], inputs["b"]
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[k]
    return {"c": total}
