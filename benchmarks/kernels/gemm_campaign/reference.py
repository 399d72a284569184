"""Product of float16 matrices."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    m, n, k = (case.dims[name] for name in ("m", "n", "k"))
    a, b = (rng.standard_normal((rows, k), dtype=np.float32).astype(np.float16) for rows in (m, n))
    return {"a": a, "b": b}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float64."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64).T}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float32."""
    return {"c": inputs["a"].astype(np.float32) @ inputs["b"].astype(np.float32).T}
