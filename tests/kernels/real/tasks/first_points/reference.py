"""First points of cells."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    cells, n = case.dims["cells"], case.dims["n"]
    cell = rng.integers(-1, cells, n, dtype=np.int32)
    first = np.full(cells, n, np.int32)
    np.minimum.at(first, cell[cell >= 0], np.flatnonzero(cell >= 0).astype(np.int32))
    return {"first": first, "cell": cell}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    cell, first = inputs["cell"], inputs["first"]
    places = np.arange(len(cell))
    return {"y": ((cell >= 0) & (first[np.maximum(cell, 0)] == places)).astype(np.int32)}
