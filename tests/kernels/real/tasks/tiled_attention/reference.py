"""Attention of heads of 32."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    shape = (case.dims["b"], case.dims["h"], case.dims["n"], 32)
    return {name: rng.standard_normal(shape, dtype=np.float32) for name in "qkv"}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    q, k, v = (inputs[name] for name in "qkv")
    scores = q @ k.swapaxes(2, 3) / q.dtype.type(np.sqrt(32))
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return {"y": weights @ v / weights.sum(axis=3, keepdims=True)}
