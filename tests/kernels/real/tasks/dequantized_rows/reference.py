"""Rows of bytes with scales of groups."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Random bytes and scales."""
    return {
        "q": rng.integers(-128, 128, (case.dims["hidden"], 96)).astype(np.int8),
        "s": rng.uniform(0.1, 2, 4).astype(np.float32),
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
    q = inputs["q"]
    hidden = len(q)
    group = (np.arange(hidden)[:, None] + np.arange(96)[None, :] * hidden) // (hidden * 96 // 4)
    return {"y": q * inputs["s"][group]}
