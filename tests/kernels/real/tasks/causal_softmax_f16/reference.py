"""Softmax of half of each row up to the diagonal."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["batch"], 64, 64), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    kind = inputs["x"].dtype
    x = inputs["x"].astype(np.float32 if kind == np.float16 else kind) / 2
    x = np.where(np.tri(64, dtype=bool), x, -np.inf)
    e = np.exp(x - x.max(axis=2, keepdims=True))
    return {"y": (e / e.sum(axis=2, keepdims=True)).astype(kind)}
