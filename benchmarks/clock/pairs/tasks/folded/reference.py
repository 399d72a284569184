"""A vector folded with itself: work that grows with the place."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal(case.dims["n"]).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    x = inputs["x"].astype(np.float64)
    return {"y": np.convolve(x, x)[: len(x)]}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision."""
    x = inputs["x"]
    return {"y": np.convolve(x, x)[: len(x)].astype(np.float32)}
