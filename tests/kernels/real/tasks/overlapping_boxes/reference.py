"""Boxes that overlap, as bits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    boxes = np.concatenate([rng.integers(-40, 40, (n, 3)), rng.integers(8, 60, (n, 4))], axis=1) / 8
    return {"x": boxes.astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    low, high = x[:, :2] - x[:, 3:5] / 2, x[:, :2] + x[:, 3:5] / 2
    sides = np.maximum(np.minimum(high[:, None], high) - np.maximum(low[:, None], low), 0)
    common, area = sides.prod(axis=2), x[:, 3] * x[:, 4]
    hit = common / np.maximum(area[:, None] + area - common, 1e-8) > 0.3137
    place = np.arange(len(x))
    hit &= (place[:, None] // 64 != place // 64) | (place[:, None] < place)
    bits = np.zeros((len(x), -(-len(x) // 64) * 64), np.uint8)
    bits[:, : len(x)] = hit
    return {"y": np.packbits(bits, axis=1, bitorder="little").view(np.int64)}
