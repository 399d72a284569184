"""Gradients of a layer normalisation."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    return {
        "dy": rng.standard_normal((rows, cols), dtype=np.float32),
        "x": x,
        "w": rng.uniform(0.5, 1.5, cols).astype(np.float32),
        "mean": x.mean(axis=1),
        "rstd": (1 / np.sqrt(x.astype(np.float64).var(axis=1) + 1e-5)).astype(np.float32),
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
    dy, x, w, mean, rstd = (inputs[name] for name in ("dy", "x", "w", "mean", "rstd"))
    normed, wdy = (x - mean[:, None]) * rstd[:, None], w * dy
    first, second = (normed * wdy).mean(axis=1, keepdims=True), wdy.mean(axis=1, keepdims=True)
    dx = (wdy - (normed * first + second)) * rstd[:, None]
    return {"dx": dx, "dw": (dy * normed).sum(axis=0), "db": dy.sum(axis=0)}
