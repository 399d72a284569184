"""SwiGLU in bfloat16."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BF16 = ml_dtypes.bfloat16


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw gates of both signs and of different size, and values."""
    shape = case.dims["rows"], case.dims["cols"]
    g, u = (3 * rng.standard_normal(shape, dtype=np.float32) for _ in range(2))
    return {"g": g.astype(BF16), "u": u.astype(BF16)}


def _computed(inputs: Tensors, kind: type[np.floating]) -> Array:
    g, u = inputs["g"].astype(kind), inputs["u"].astype(kind)
    with np.errstate(over="ignore"):
        return np.asarray(g / (1 + np.exp(-g)) * u)


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the bfloat16 inputs."""
    return {"y": _computed(inputs, np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    return {"y": _computed(inputs, np.float32).astype(BF16)}
