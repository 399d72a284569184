"""Transpose of a square matrix of doubles."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal((case.dims["n"], case.dims["n"]))}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the transpose, which is exact."""
    return {"y": inputs["x"].T.copy()}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the same."""
    return reference(inputs, case)
