"""Shortest paths between all nodes."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Lengths; none from a node to itself."""
    n = case.dims["n"]
    x = rng.integers(1, 1000, (n, n)).astype(np.int32)
    np.fill_diagonal(x, 0)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    d = inputs["x"].astype(np.int64)
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
    return {"d": d.astype(np.int32)}
