"""A gated update."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n = case.dims["n"]
    return {
        "u": rng.random(n, dtype=np.float32),
        "x": rng.standard_normal(n, dtype=np.float32),
        "p": rng.standard_normal(n, dtype=np.float32),
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
    u = inputs["u"]
    return {"y": (1 - u) * inputs["x"] + u * inputs["p"]}
