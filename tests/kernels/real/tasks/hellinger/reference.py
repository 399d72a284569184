"""Hellinger distance of rows and columns."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Rows and columns that sum to one."""
    d = case.dims
    a = rng.random((d["m"], d["n"]), dtype=np.float32) ** 4 + np.float32(1e-3)
    b = rng.random((d["n"], d["k"]), dtype=np.float32) ** 4 + np.float32(1e-3)
    return {"a": a / a.sum(axis=1, keepdims=True), "b": b / b.sum(axis=0, keepdims=True)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    return {"c": np.sqrt(np.maximum(0, 1 - np.sqrt(inputs["a"]) @ np.sqrt(inputs["b"])))}
