"""Pairs in the order of their keys, in rows of 1024."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    rows = case.dims["rows"]
    return {
        "kx": rng.permuted(np.tile(np.arange(1024, dtype=np.int32), (rows, 1)) * 3, axis=1),
        "vx": rng.integers(0, 1 << 30, (rows, 1024), dtype=np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    order = np.argsort(inputs["kx"], axis=1)
    return {
        "ky": np.take_along_axis(inputs["kx"], order, axis=1),
        "vy": np.take_along_axis(inputs["vx"], order, axis=1),
    }
