"""Attention by heads."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    shape = (d["b"], d["heads"], 32 * d["tiles"], 16)
    return {name: rng.standard_normal(shape, dtype=np.float32) for name in "qkv"}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    s = inputs["q"] @ inputs["k"].swapaxes(-1, -2) / 4
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return {"y": p / p.sum(axis=-1, keepdims=True) @ inputs["v"]}
