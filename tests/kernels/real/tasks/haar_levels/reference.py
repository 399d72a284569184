"""Haar's wavelets of blocks of 32."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal(32 * case.dims["blocks"], dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"] / np.sqrt(inputs["x"].dtype.type(len(inputs["x"])))
    half, d, places = x.dtype.type(0.5) ** x.dtype.type(0.5), np.zeros_like(x), len(x)
    x = x.reshape(-1, 32)
    for _ in range(5):
        even, odd = x[:, ::2], x[:, 1::2]
        d[places // 2 : places] = ((even - odd) * half).ravel()
        x, places = (even + odd) * half, places // 2
    return {"d": d, "a": x.ravel()}
