"""Tokens of each expert."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Experts, some more often than others."""
    choices = np.minimum(rng.integers(0, 32, (case.dims["n"], 4)), rng.integers(0, 64, (case.dims["n"], 4)))
    return {"choices": choices.astype(np.int32)}


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
    return {"counts": np.bincount(inputs["choices"].ravel(), minlength=32).astype(np.int32)}
