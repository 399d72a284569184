"""Sums of runs of 1024."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Whole numbers."""
    return {"x": rng.integers(-999, 999, case.dims["n"]).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"].astype(np.int64)
    x = np.pad(x, (0, -x.size % 1024))
    return {"y": x.reshape(-1, 1024).sum(axis=1).astype(np.int32)}
