"""Quarter of a vector of doubles."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"b": rng.standard_normal(case.dims["n"])}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the quarter, which is exact."""
    return {"a": inputs["b"] * 0.25}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the same."""
    return reference(inputs, case)
