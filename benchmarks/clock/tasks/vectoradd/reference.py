"""Sum of two vectors."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {name: rng.standard_normal(case.dims["n"]).astype(np.float32) for name in ("b", "c")}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"a": inputs["b"].astype(np.float64) + inputs["c"]}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"a": inputs["b"] + inputs["c"]}
