"""Gradients of features aligned with turned boxes."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    shape = (d["n"], d["h"], d["w"])
    sizes = (d["h"], d["w"], 0.5 * d["w"], 0.5 * d["h"], 3.0)
    boxes = np.stack([rng.uniform(0, size, shape) for size in sizes], axis=-1)
    return {
        "dy": rng.standard_normal((d["n"], d["c"], d["h"], d["w"]), dtype=np.float32),
        "boxes": boxes.astype(np.float32),
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
    dy, boxes = inputs["dy"], inputs["boxes"]
    y, x, w, h, angle = (boxes[..., i] for i in range(5))
    wx, wy = np.cos(angle) * w / 2, np.sin(angle) * w / 2
    hx, hy = -np.sin(angle) * h / 2, np.cos(angle) * h / 2
    dx = dy.copy()
    for a, b in ((0, 0), (1, 1), (-1, 1), (-1, -1), (1, -1)):
        _spread(dx, dy, y + a * wy + b * hy, x + a * wx + b * hx)
    return {"dx": dx}


def _spread(dx: Array, dy: Array, y: Array, x: Array) -> None:
    height, width = dy.shape[2:]
    is_inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = y.astype(np.int64), x.astype(np.int64)
    places = np.arange(len(dy))[:, None, None, None], np.arange(dy.shape[1])[:, None, None]
    for row, weight in ((top, 1 - (y - top)), (np.minimum(top + 1, height - 1), y - top)):
        for col, share in ((left, 1 - (x - left)), (np.minimum(left + 1, width - 1), x - left)):
            part = dy * (weight * share * is_inside)[:, None]
            np.add.at(dx, (*places, row[:, None], col[:, None]), part)
