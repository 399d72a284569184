"""One step of gradient descent."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    return {
        "x": rng.standard_normal(n, dtype=np.float32),
        "g": rng.standard_normal(n, dtype=np.float32),
        "pars": rng.uniform(0.1, 0.9, 2).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, p = inputs["x"], inputs["pars"]
    return {"y": x * (1 - p[0] * p[1]) - p[0] * inputs["g"]}
