"""The softmax of scaled scores with a bias, in bfloat16."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BF16 = ml_dtypes.bfloat16


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw scores of rows that are flat and rows that are steep, and a bias."""
    batch, rows, cols = (case.dims[name] for name in ("batch", "rows", "cols"))
    x = rng.standard_normal((batch, rows, cols), dtype=np.float32) * rng.uniform(4, 40, (batch, rows, 1))
    bias = 2 * rng.standard_normal((rows, cols), dtype=np.float32)
    return {"x": x.astype(np.float32).astype(BF16), "bias": bias.astype(BF16)}


def _computed(inputs: Tensors, kind: type[np.floating]) -> Array:
    x = inputs["x"].astype(kind) * kind(0.125) + inputs["bias"].astype(kind)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True, dtype=kind))


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the inputs."""
    return {"y": _computed(inputs, np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    return {"y": _computed(inputs, np.float32).astype(BF16)}
