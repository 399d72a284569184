"""A linear map many times."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def _iterate(x: Array, turns: int) -> Array:
    v = x.copy()
    for _ in range(turns):
        v = v * x + x.dtype.type(0.5)
    return v


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values by which the map contracts."""
    return {"x": rng.uniform(-0.9, 0.9, case.dims["n"]).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"y": _iterate(inputs["x"].astype(np.float64), case.dims["turns"])}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision."""
    return {"y": _iterate(inputs["x"], case.dims["turns"])}
