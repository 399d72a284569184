"""Gradients of a scaled softmax."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    shape = (8 * case.dims["blocks"], 64)
    p = np.exp(rng.standard_normal(shape))
    return {
        "g": rng.standard_normal(shape).astype(np.float16),
        "p": (p / p.sum(axis=1, keepdims=True)).astype(np.float16),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    wide = np.float64 if inputs["g"].dtype == np.float64 else np.float32
    g, p = inputs["g"].astype(wide), inputs["p"].astype(wide)
    parts = g * p
    return {"d": (0.5 * (parts - p * parts.sum(axis=1, keepdims=True))).astype(inputs["g"].dtype)}
