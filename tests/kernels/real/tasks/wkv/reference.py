"""Weighted values of RWKV."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, decays from -1 to 0."""
    shape = case.dims["batch"], case.dims["steps"], 64
    return {
        "w": -rng.random(64, dtype=np.float32),
        "u": rng.standard_normal(64, dtype=np.float32),
        "k": rng.standard_normal(shape, dtype=np.float32),
        "v": rng.standard_normal(shape, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    w, u, k, v = (inputs[name] for name in "wukv")
    y, p, q = np.empty_like(v), np.zeros_like(v[:, 0]), np.zeros_like(v[:, 0])
    for t in range(v.shape[1]):
        own, kept = np.exp(u + k[:, t]), np.exp(k[:, t])
        y[:, t] = (p + own * v[:, t]) / (q + own)
        p, q = np.exp(w) * p + kept * v[:, t], np.exp(w) * q + kept
    return {"y": y}
