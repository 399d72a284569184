"""One sum over a vector."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw small numbers."""
    return {"x": rng.integers(0, 16, case.dims["n"]).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the sum, which is exact."""
    return {"s": inputs["x"].sum(dtype=np.int32).reshape(1)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the same."""
    return reference(inputs, case)
