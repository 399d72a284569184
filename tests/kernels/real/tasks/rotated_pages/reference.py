"""Pages copied in an order."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    pages, moves = case.dims["pages"], case.dims["moves"]
    order = rng.integers(-1, pages, (moves + 1, 2)).astype(np.int32)
    order[0] = -1, rng.integers(0, pages)
    return {"x": rng.integers(0, 256, (pages, 16 * case.dims["units"])).astype(np.uint8), "order": order}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    y = np.concatenate([inputs["x"], np.zeros_like(inputs["x"][:1])])
    for a, b in inputs["order"]:
        y[a] = y[b]
    return {"y": y[:-1]}
