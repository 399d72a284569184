"""Causal attention in half precision."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    shape = (case.dims["heads"], case.dims["s"], 64)
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
    scores = q @ k.transpose(0, 2, 1) * q.dtype.type(0.125 / np.log(2))
    scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    top = scores.max(axis=2, keepdims=True)
    power = np.exp2(scores - top)
    total = power.sum(axis=2, keepdims=True)
    return {"o": power / total @ v, "l": (np.log2(total) + top)[..., 0]}
