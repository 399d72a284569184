"""Two transposed matrices of bytes."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Random bytes."""
    d = case.dims
    return {
        "x": rng.integers(0, 256, (d["k"], d["m"])).astype(np.uint8),
        "w": rng.integers(0, 256, (d["k"], d["n"])).astype(np.uint8),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    return {"a": inputs["x"].T.copy(), "b": inputs["w"].T.copy()}
