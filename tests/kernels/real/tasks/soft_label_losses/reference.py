"""Losses of rows against soft labels."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, labels in [0, 1)."""
    return {
        "x": rng.standard_normal((case.dims["rows"], 300), dtype=np.float32),
        "t": rng.random((case.dims["rows"], 300), dtype=np.float32),
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
    x = inputs["x"] - inputs["x"].max(axis=1, keepdims=True)
    log = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    return {"y": -(log * inputs["t"]).sum(axis=1) / x.dtype.type(len(x))}
