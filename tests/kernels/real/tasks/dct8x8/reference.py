"""Cosine transform of blocks of 8 by 8."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {"x": 9 * rng.standard_normal((d["rows"], d["cols"]), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    k = np.arange(8)
    m = np.cos(np.pi * (2 * k[None] + 1) * k[:, None] / 16) / 2
    m[0] /= np.sqrt(2)
    m = m.astype(x.dtype)
    blocks = x.reshape(x.shape[0] // 8, 8, x.shape[1] // 8, 8).transpose(0, 2, 1, 3)
    return {"y": np.ascontiguousarray((m @ blocks @ m.T).transpose(0, 2, 1, 3)).reshape(x.shape)}
