"""SiLU of the first half of a row times the second."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    return {"x": rng.standard_normal((case.dims["rows"], 2 * case.dims["d"]), dtype=np.float32).astype(np.float16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, y = np.split(inputs["x"], 2, axis=1)
    return {"y": x / (1 + np.exp(-x)) * y}
