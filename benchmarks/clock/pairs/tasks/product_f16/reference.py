"""A matrix product."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    m, n, k = (case.dims[name] for name in "mnk")
    a, b = rng.standard_normal((m, k)), rng.standard_normal((n, k))
    return {"a": a.astype(np.float16), "b": b.astype(np.float16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64).T}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision, one product after the other."""
    a, b = inputs["a"].astype(np.float32), inputs["b"].astype(np.float32)
    total = np.zeros((len(a), len(b)), np.float32)
    for k in range(a.shape[1]):
        total += np.outer(a[:, k], b[:, k])
    return {"c": total}
