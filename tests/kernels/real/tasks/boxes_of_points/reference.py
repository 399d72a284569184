"""The boxes of points."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Boxes and points."""
    d = case.dims
    centres = rng.uniform(-4, 4, (d["b"], d["m"], 3))
    sizes, turns = rng.uniform(1, 4, (d["b"], d["m"], 3)), rng.uniform(-3, 3, (d["b"], d["m"], 1))
    boxes = np.concatenate((centres, sizes, turns), axis=-1).astype(np.float32)
    return {"boxes": boxes, "x": rng.uniform(-5, 5, (d["b"], d["n"], 3)).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    boxes, x = inputs["boxes"][:, None], inputs["x"][:, :, None]
    half, turn = boxes[..., 3:6] / 2, -boxes[..., 6]
    off = x - boxes[..., :3]
    u = off[..., 0] * np.cos(turn) - off[..., 1] * np.sin(turn)
    v = off[..., 0] * np.sin(turn) + off[..., 1] * np.cos(turn)
    inside = np.abs(off[..., 2] - half[..., 2]) <= half[..., 2]
    inside &= (np.abs(u) < half[..., 0]) & (np.abs(v) < half[..., 1])
    return {"y": np.where(inside.any(axis=-1), inside.argmax(axis=-1), -1).astype(np.int32)}
