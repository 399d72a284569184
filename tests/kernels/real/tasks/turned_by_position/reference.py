"""Rotary positions of each row."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    x = rng.standard_normal((d["s"], d["b"], d["h"], 32 + d["rest"]), dtype=np.float32)
    return {"x": x, "angles": rng.uniform(-7, 7, (d["b"], d["s"], 32)).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    d = inputs["x"].shape[-1]
    x, angles = inputs["x"][..., :32], inputs["angles"]
    angles = angles[:, None, None] if angles.ndim == 2 else np.swapaxes(angles, 0, 1)[:, :, None]
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.concatenate([-x[..., 16:], x[..., :16]], axis=-1) * sin
    y = np.concatenate([x * cos + turned, inputs["x"][..., 32:d]], axis=-1)
    return {"y": y.astype(inputs["x"].dtype)}
