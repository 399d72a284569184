"""Sums of squares of 256 workgroups."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    return {"a": rng.standard_normal(case.dims["n"])}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    squares = inputs["a"] ** 2
    padded = np.zeros((-(-len(squares) // 131072), 256, 512))
    padded.reshape(-1)[: len(squares)] = squares
    return {"y": padded.sum(axis=(0, 2))}
