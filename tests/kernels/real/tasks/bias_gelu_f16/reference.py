"""GELU of x and a bias in half precision."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    x = rng.standard_normal((d["batch"], d["rows"], d["cols"]), dtype=np.float32)
    return {"x": x, "b": rng.standard_normal(d["cols"], dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, b = inputs["x"], inputs["b"]
    v = x + b
    t = v.astype(np.float32) if v.dtype == np.float16 else v
    return {"y": (t / 2 * (1 + np.tanh(0.79788456 * (t + 0.044715 * t**3)))).astype(v.dtype)}
