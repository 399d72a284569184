"""Tokens in the order of their experts."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Two of eight experts for a token."""
    return {"ids": np.argsort(rng.random((case.dims["t"], 8)), axis=1)[:, :2].astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    flat = inputs["ids"].reshape(-1)
    order = np.argsort(flat, kind="stable").astype(np.int32)
    bounds = np.searchsorted(flat[order], np.arange(9)).astype(np.int32)
    return {"src": order // 2 * 3, "dst": order, "bounds": bounds}
