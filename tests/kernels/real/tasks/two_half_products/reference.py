"""Two products of half-precision matrices."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    m, n, k = (case.dims[name] for name in "mnk")
    shapes = {"a": (m, k), "b": (k, n), "u": (n, k), "v": (k, m)}
    return {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    return {"c": inputs["a"] @ inputs["b"], "w": inputs["u"] @ inputs["v"]}
