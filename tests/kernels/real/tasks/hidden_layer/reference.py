"""A layer's products and their partial sums."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n = 16 * case.dims["blocks"] + 1
    return {"x": rng.standard_normal(n, dtype=np.float32), "w0": rng.standard_normal((n, 17), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    w = inputs["w0"].copy()
    tile = 2 * w[1:, 1:].reshape(-1, 16, 16) * inputs["x"][1:].reshape(-1, 16, 1)
    for step in (2, 4, 8, 16):
        tile[:, ::step] += tile[:, step // 2 :: step]
    w[1:, 1:] = tile.reshape(-1, 16)
    return {"w": w, "partial": tile[:, 0]}
