"""Largest values of blocks of 512."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Words, some of them negative."""
    return {"x": rng.integers(-1000000, 1000000, case.dims["n"]).astype(np.int32)}


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
    padded = np.zeros(-(-len(x) // 512) * 512, x.dtype)
    padded[: len(x)] = x
    return {"y": np.maximum(padded.reshape(-1, 512).max(axis=1), 0)}
