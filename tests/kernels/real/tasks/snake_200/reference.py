"""Snake activation."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    c = case.dims["channels"]
    return {
        "x": rng.standard_normal((c, 200), dtype=np.float32),
        "a": rng.standard_normal(c, dtype=np.float32),
        "inv_b": rng.standard_normal(c, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    return {"y": x + np.sin(inputs["a"][:, None] * x) ** 2 * inputs["inv_b"][:, None]}
