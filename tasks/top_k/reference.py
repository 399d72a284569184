"""The largest values of each row and their columns."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """A stable sort of each row."""
    return {name: array.astype(np.float64) for name, array in baseline(inputs, case).items()}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """The same: nothing is computed."""
    x = inputs["x"]
    index = np.argsort(-x, axis=1, kind="stable")[:, : case.dims["k"]]
    return {"value": np.take_along_axis(x, index, axis=1), "index": index.astype(np.int32)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Few different values, rows that are sorted already, and rows below zero."""
    x = inputs["x"]
    below = (-1 - np.abs(x)).astype(np.float32)
    return {
        "equal": {"x": np.asarray(rng.integers(4, size=x.shape), np.float32)},
        "descending": {"x": np.ascontiguousarray(np.sort(x, axis=1)[:, ::-1])},
        "negative": {"x": below},
    }
