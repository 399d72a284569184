"""Sum of a vector and a multiple of another one, of doubles."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {name: rng.standard_normal(case.dims["n"]) for name in ("b", "c")}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in extended precision."""
    return {"a": (inputs["b"].astype(np.longdouble) * np.float64(1.2) + inputs["c"]).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"a": inputs["b"] * 1.2 + inputs["c"]}
