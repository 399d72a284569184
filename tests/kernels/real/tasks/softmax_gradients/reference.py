"""Gradient of the loss of a softmax, added."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values and targets."""
    rows = case.dims["rows"]
    return {
        "d0": rng.standard_normal((rows, 300), dtype=np.float32),
        "g": rng.standard_normal(rows, dtype=np.float32),
        "p": rng.random((rows, 300), dtype=np.float32),
        "t": rng.integers(0, 300, rows, dtype=np.int32),
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
    p = inputs["p"].copy()
    p[np.arange(len(p)), inputs["t"]] -= 1
    return {"d": inputs["d0"] + p * inputs["g"][:, None]}
