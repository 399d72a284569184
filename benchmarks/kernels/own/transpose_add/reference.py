"""A matrix plus the transpose of another."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    return {
        "x": rng.standard_normal((rows, cols), dtype=np.float32),
        "z": rng.standard_normal((cols, rows), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": inputs["x"].astype(np.float64).T + inputs["z"].astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": inputs["x"].T + inputs["z"]}
