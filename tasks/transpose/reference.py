"""Transpose of a float32 matrix."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """The transposed values in float64."""
    return {"y": np.ascontiguousarray(inputs["x"].T).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """A copy is exact."""
    return {"y": np.ascontiguousarray(inputs["x"].T)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Each element says where it comes from: any misplaced one shows."""
    x = inputs["x"]
    return {"indices": {"x": np.arange(x.size, dtype=np.float32).reshape(x.shape) + 1}}
