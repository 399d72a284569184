"""The largest values of each row and their columns."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Sort each row, stably."""
    return {name: array.astype(np.float64) for name, array in baseline(inputs, case).items()}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the same: nothing is computed."""
    x = inputs["x"]
    index = np.argsort(-x, axis=1, kind="stable")[:, : case.dims["k"]]
    return {"value": np.take_along_axis(x, index, axis=1), "index": index.astype(np.int32)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make few different values, rows that are sorted already, and rows below zero."""
    x = inputs["x"]
    below = (-1 - np.abs(x)).astype(np.float32)
    return {
        "equal": {"x": np.asarray(rng.integers(4, size=x.shape), np.float32)},
        "descending": {"x": np.ascontiguousarray(np.sort(x, axis=1)[:, ::-1])},
        "negative": {"x": below},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take another order, equal values in another order, the largest of parts of a row, and places from one on."""
    x, k = inputs["x"], case.dims["k"]
    cols = x.shape[1]
    head = max(k, cols // 2)
    right = np.argsort(-x, axis=1, kind="stable")[:, :k]
    narrow = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    found = {
        "the smallest": np.argsort(x, axis=1, kind="stable")[:, :k],
        "the largest magnitudes": np.argsort(-np.abs(x), axis=1, kind="stable")[:, :k],
        "the largest in order of their columns": np.sort(right, axis=1),
        "of equal ones the last": cols - 1 - np.argsort(-x[:, ::-1], axis=1, kind="stable")[:, :k],
        "the largest of the first half": np.argsort(-x[:, :head], axis=1, kind="stable")[:, :k],
        "compared in bfloat16": np.argsort(-narrow, axis=1, kind="stable")[:, :k],
    }
    made: dict[str, Tensors] = {
        n: {"value": np.take_along_axis(x, i, axis=1), "index": i.astype(np.int32)} for n, i in found.items()
    }
    value = np.take_along_axis(x, right, axis=1)
    made["columns from one on"] = {"value": value, "index": (right + 1).astype(np.int32)}
    made["values in bfloat16"] = {"value": np.take_along_axis(narrow, right, axis=1), "index": right.astype(np.int32)}
    return made
