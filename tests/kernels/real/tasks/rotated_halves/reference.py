"""Rotary embedding of halves."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    t, h, d = (case.dims[name] for name in "thd")
    return {
        "x": rng.standard_normal((t, h, 2 * d), dtype=np.float32),
        "s": rng.standard_normal((t, 2 * d), dtype=np.float32),
        "c": rng.standard_normal((t, 2 * d), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, d = inputs["x"], case.dims["d"]
    turned = np.concatenate([-x[..., d:], x[..., :d]], axis=-1)
    return {"y": x * inputs["c"][:, None] + turned * inputs["s"][:, None]}
