"""Weighted states of RWKV-6."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, decays from -1 to 0."""
    d = case.dims
    shape = d["batch"], d["steps"], d["heads"], 16
    return {
        **{name: rng.standard_normal(shape, dtype=np.float32) for name in "rkv"},
        "w": -rng.random(shape, dtype=np.float32),
        "u": rng.standard_normal((d["heads"], 16), dtype=np.float32),
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
    r, k, v, w, u = (inputs[name] for name in "rkvwu")
    y, s = np.empty_like(v), np.zeros((*v[:, 0].shape, 16), v.dtype)
    for t in range(v.shape[1]):
        kv = v[:, t, :, :, None] * k[:, t, :, None]
        y[:, t] = ((s + u[:, None] * kv) * r[:, t, :, None]).sum(axis=3)
        s = s * np.exp(w[:, t, :, None]) + kv
    return {"y": y}
