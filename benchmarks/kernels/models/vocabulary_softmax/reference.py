"""The softmax of few, long rows at a temperature of 0.8."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BF16 = ml_dtypes.bfloat16


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw logits of rows that are flat and rows that are steep, far from zero."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = rng.standard_normal((rows, cols), dtype=np.float32) * rng.uniform(0.5, 60, (rows, 1)).astype(np.float32)
    return {"x": (x + rng.uniform(-400, 400, (rows, 1))).astype(BF16)}


def _computed(inputs: Tensors, kind: type[np.floating]) -> Array:
    x = inputs["x"].astype(kind) * kind(1.25)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True, dtype=kind))


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the bfloat16 inputs."""
    return {"y": _computed(inputs, np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": _computed(inputs, np.float32)}
