"""Windows of an image as columns."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal((case.dims["n"], case.dims["n"])).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _columns(inputs["x"].astype(np.float64), case.dims["k"])}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": _columns(inputs["x"], case.dims["k"])}


def _columns(x: Array, k: int) -> Array:
    m = x.shape[0] - k + 1
    return np.stack([x[p : p + m, q : q + m].reshape(-1) for p in range(k) for q in range(k)])
