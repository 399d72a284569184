"""Sum of 256 words and of each 16 of them."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Whole numbers."""
    return {"x": rng.integers(-999, 999, 256).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"].astype(np.int64)
    return {
        "whole": x.reshape(-1, 256).sum(axis=1).astype(np.int32),
        "part": x.reshape(-1, 16).sum(axis=1).astype(np.int32),
    }
