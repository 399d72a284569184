"""Gradient of GELU, bfloat16."""

from __future__ import annotations

import numpy as np
from ml_dtypes import bfloat16

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {
        "x": rng.standard_normal((case.dims["n"],), dtype=np.float32).astype(bfloat16),
        "dy": rng.standard_normal((case.dims["n"],), dtype=np.float32).astype(bfloat16),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, dy = inputs["x"].astype(np.float64), inputs["dy"].astype(np.float64)
    s = np.sqrt(2 / np.pi)
    t = np.tanh(s * (x + 0.044715 * x**3))
    slope = (1 + t) / 2 + x * (1 - t * t) * s * (1 + 3 * 0.044715 * x * x) / 2
    return {"dx": (slope * dy).astype(inputs["x"].dtype)}
