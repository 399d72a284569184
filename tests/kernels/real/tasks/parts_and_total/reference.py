"""Sums of a strided grid, the whole one first."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values in [0, 1)."""
    return {"x": rng.random(case.dims["n"], dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    y = np.pad(x, (0, -len(x) % 2048)).reshape(-1, 16, 128).sum(axis=(0, 2))
    y[0] = y.sum()
    return {"y": y}
