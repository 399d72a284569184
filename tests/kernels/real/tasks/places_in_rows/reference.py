"""Places within rows."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    rows, width = case.dims["rows"], case.dims["width"]
    starts = np.sort(rng.integers(0, rows * width + 1, rows, dtype=np.int32))
    starts[0] = 0
    return {"starts": starts}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    n = case.dims["rows"] * case.dims["width"]
    starts, places = inputs["starts"], np.arange(n, dtype=np.int32)
    return {"y": places - starts[np.searchsorted(starts, places, side="right") - 1]}
