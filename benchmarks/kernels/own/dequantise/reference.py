"""Int8 to float32 with a scale for each row."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw every int8, scales of both signs."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    return {
        "q": rng.integers(-128, 128, (rows, cols)).astype(np.int8),
        "scale": rng.standard_normal(rows, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": inputs["q"].astype(np.float64) * inputs["scale"].astype(np.float64)[:, None]}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": inputs["q"].astype(np.float32) * inputs["scale"][:, None]}
