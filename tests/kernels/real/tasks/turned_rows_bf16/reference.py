"""Rows turned by their place, in bfloat16."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    a, b = case.dims["a"], case.dims["b"]
    return {"x": rng.standard_normal((2 * a, b, 32), dtype=np.float32)}


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


def _rounded(x: Array) -> Array:
    return x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, place = inputs["x"], _rounded(3 + _rounded(np.arange(case.dims["b"])))
    power = _rounded(_rounded(-2.0 * np.arange(16)) / 32)
    angle = _rounded(_rounded(10000.0**power) * place[:, None])
    cos, sin = (_rounded(f(angle)).astype(x.dtype) for f in (np.cos, np.sin))
    low, high = x[:, :, :16], x[:, :, 16:]
    if x.dtype == np.float64:
        return {"y": np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=2)}
    parts = (_rounded(low * cos) - _rounded(high * sin), _rounded(high * cos) + _rounded(low * sin))
    return {"y": np.concatenate(parts, axis=2).astype(ml_dtypes.bfloat16)}
