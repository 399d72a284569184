"""Multiple of a vector of doubles."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"b": rng.standard_normal(case.dims["n"])}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in extended precision."""
    return {"a": (inputs["b"].astype(np.longdouble) * np.float64(1.2)).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"a": inputs["b"] * 1.2}
