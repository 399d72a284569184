"""Sparse matrix times vector, compressed rows of equal length."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values. Benchmarks have the places of the measured runs; other cases any, and rows of any length."""
    n, nnz = case.dims["n"], case.dims["nnz"]
    columns = np.arange(n)[:, None] + np.arange(nnz)
    cuts = np.arange(n + 1) * nnz
    if case.role != "benchmark":
        columns = rng.integers(0, n, (n, nnz))
        cuts[1:-1] = np.sort(rng.integers(0, n * nnz + 1, n - 1))
    return {
        "val": rng.standard_normal(n * nnz).astype(np.float32),
        "vec": rng.standard_normal(n).astype(np.float32),
        "cols": (columns % n).astype(np.int32).reshape(-1),
        "starts": cuts.astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"out": _product(inputs, np.dtype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one term after the other."""
    return {"out": _product(inputs, np.dtype(np.float32))}


def within(altered: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Keep the places that were drawn."""
    return {"cols": drawn["cols"], "starts": drawn["starts"]}


def _product(inputs: Tensors, dtype: np.dtype[np.floating]) -> Array:
    products = inputs["val"].astype(dtype) * inputs["vec"].astype(dtype)[inputs["cols"]]
    starts, lengths = inputs["starts"][:-1], np.diff(inputs["starts"])
    total = np.zeros(starts.size, dtype)
    for step in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > step)
        total[rows] += products[starts[rows] + step]
    return total
