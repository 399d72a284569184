"""Prices of options."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    return {
        "price": rng.uniform(5, 30, n).astype(np.float32),
        "strike": rng.uniform(5, 90, n).astype(np.float32),
        "years": rng.uniform(0.25, 10, n).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    s, x, t = inputs["price"], inputs["strike"], inputs["years"]
    root, r, v = np.sqrt(t), s.dtype.type(0.02), s.dtype.type(0.3)
    d1 = (np.log(s / x) + (r + v * v / 2) * t) / (v * root)
    first, second, due = _normal(d1), _normal(d1 - v * root), x * np.exp(-r * t)
    return {"call": s * first - due * second, "put": due * (1 - second) - s * (1 - first)}


def _normal(d: Array) -> Array:
    k = 1 / (1 + 0.2316419 * np.abs(d))
    poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * np.exp(-d * d / 2) * poly
    return np.asarray(np.where(d > 0, 1 - tail, tail).astype(d.dtype))
