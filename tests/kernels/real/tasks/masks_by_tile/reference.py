"""Masks in the order of tiles."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    s = 2 * case.dims["half"]
    return {"x": (-10000 * (rng.random((case.dims["b"], s, s)) < 0.5)).astype(np.float16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, s = inputs["x"], 2 * case.dims["half"]
    padded = np.full((len(x), 64, 64), -30000, x.dtype)
    padded[:, :s, :s] = x
    tiles = padded.reshape(-1, 2, 2, 2, 8, 2, 2, 2, 4, 2)  # b, block, warp, half, row; the same of columns, then pairs
    return {"y": tiles.transpose(0, 1, 5, 6, 2, 3, 7, 4, 8, 9).reshape(-1, 64, 64)}
