"""Two maps, one for even places and one for odd ones."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def _iterate(x: Array) -> Array:
    half, v = x.dtype.type(0.5), x.copy()
    for _ in range(128):
        v[::2] = v[::2] * x[::2] + half
        v[1::2] = np.sqrt(np.abs(v[1::2]) + half)
    return v


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values by which both maps contract."""
    return {"x": rng.uniform(-0.9, 0.9, case.dims["n"]).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"y": _iterate(inputs["x"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision."""
    return {"y": _iterate(inputs["x"])}
