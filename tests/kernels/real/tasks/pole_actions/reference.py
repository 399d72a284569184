"""Actions that balance poles."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Small values, so that few actions are clamped."""
    return {"x": np.float32(0.3) * rng.standard_normal((case.dims["n"], 4), dtype=np.float32)}


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
    x = inputs["x"]
    u = 2.6 * x[:, 2] + 0.9 * x[:, 3] + 0.18 * x[:, 0] + 0.1 * x[:, 1]
    i = np.arange(x.shape[0]).astype(x.dtype)
    return {"y": np.clip(u + 0.1 * np.sin(0.03 * (7 + i)), -1, 1)}
