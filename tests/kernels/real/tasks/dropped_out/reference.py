"""Dropout by a mask."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n = case.dims["n"]
    return {"x": rng.standard_normal(n, dtype=np.float32), "keep": rng.integers(0, 2, n).astype(np.int32)}


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
    return {"y": np.where(inputs["keep"] != 0, x / x.dtype.type(0.5), x.dtype.type(0))}
