"""Causal attention of four heads."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["steps"], 192), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    q, k, v = inputs["x"].reshape(-1, 3, 4, 16).transpose(1, 2, 0, 3)
    s = q @ k.swapaxes(1, 2) / q.dtype.type(4)
    s = np.where(np.tri(len(s[0]), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=2, keepdims=True))
    return {"y": (e / e.sum(axis=2, keepdims=True) @ v).swapaxes(0, 1).reshape(-1, 64)}
