"""Rows of bytes copied between strides."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n, m = case.dims["n"], case.dims["m"]
    return {
        "x1": rng.integers(0, 256, (n, 12), dtype=np.uint8),
        "x2": rng.integers(0, 256, (m, 24), dtype=np.uint8),
        "y0": rng.integers(0, 256, (n, 16), dtype=np.uint8),
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
    y = inputs["y0"].copy()
    y[:, :12] = inputs["x1"]
    return {"y1": y, "y2": inputs["x2"][:, :20]}
