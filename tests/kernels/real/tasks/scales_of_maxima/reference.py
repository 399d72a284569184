"""Scales for the range of a small type."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    return {"x": np.abs(4 * rng.standard_normal(case.dims["n"], dtype=np.float32))}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    _, exponent = np.frexp(448 / np.maximum(inputs["x"], inputs["x"].dtype.type(0.001)))
    return {"y": np.ldexp(np.ones_like(inputs["x"]), exponent - 1)}
