"""A product of bfloat16 rows with int8 weights that have a scale a row."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

BF16 = ml_dtypes.bfloat16


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw activations with outliers, weights over all of their values, and positive scales."""
    tokens, k, n = (case.dims[name] for name in ("tokens", "k", "n"))
    x = rng.standard_normal((tokens, k), dtype=np.float32)
    x[np.arange(tokens), rng.integers(k, size=tokens)] *= 8
    w = rng.integers(-127, 128, (n, k)).astype(np.int8)
    scale = (0.01 * np.exp(rng.standard_normal(n))).astype(np.float32)
    return {"x": x.astype(BF16), "w": w, "scale": scale.astype(BF16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the inputs."""
    x, w, scale = (inputs[name].astype(np.float64) for name in ("x", "w", "scale"))
    return {"y": x @ w.T * scale}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Sum in float32, scaled and rounded once to bfloat16."""
    x, w, scale = (inputs[name].astype(np.float32) for name in ("x", "w", "scale"))
    return {"y": (x @ w.T * scale).astype(BF16)}
