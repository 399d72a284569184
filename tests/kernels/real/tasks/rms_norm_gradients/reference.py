"""Gradients of a norm by the root mean square."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    return {
        "g": rng.standard_normal((rows, cols), dtype=np.float32),
        "x": x,
        "s": (1 / np.sqrt((x.astype(np.float64) ** 2).mean(axis=1) + 1e-5)).astype(np.float32),
        "w": rng.uniform(0.5, 1.5, cols).astype(np.float32),
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
    g, x, s, w = (inputs[name] for name in ("g", "x", "s", "w"))
    s = s[:, None]
    d = s * (g * w - x * s * (g * w * x * s).mean(axis=1, keepdims=True))
    return {"d": d, "e": d}
