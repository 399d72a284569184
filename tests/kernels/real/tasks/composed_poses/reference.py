"""Poses composed with poses."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    widths = {"a": 3, "q": 4, "c": 3, "p": 4}
    return {name: rng.standard_normal((n, width), dtype=np.float32) for name, width in widths.items()}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    a, q, c, p = (inputs[name] for name in "aqcp")
    axis, real = q[:, :3], q[:, 3:]
    once = np.cross(axis, c)
    turned = c + 2 * (real * once + np.cross(axis, once))
    vector = real * p[:, :3] + p[:, 3:] * axis + np.cross(axis, p[:, :3])
    scalar = real * p[:, 3:] - (axis * p[:, :3]).sum(axis=1, keepdims=True)
    return {"t": a + turned, "r": np.concatenate([vector, scalar], axis=1)}
