"""Sums over the neighbours in a graph."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    edges = rng.integers(0, d["v"], (d["e"], 2))
    return {"x": rng.standard_normal((d["v"], d["d"]), dtype=np.float32), "edges": edges}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, edges = inputs["x"], inputs["edges"]
    y = np.zeros_like(x)
    np.add.at(y, edges[:, 0], x[edges[:, 1]])
    np.add.at(y, edges[:, 1], x[edges[:, 0]])
    return {"y": y}
