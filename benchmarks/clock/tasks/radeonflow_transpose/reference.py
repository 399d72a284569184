"""The transpose of a matrix, to the bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, none of which stands for another."""
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the same values in float64."""
    return {"y": inputs["x"].astype(np.float64).T}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the same values in their own type."""
    return {"y": inputs["x"].astype(ml_dtypes.float8_e4m3fnuz).T}
