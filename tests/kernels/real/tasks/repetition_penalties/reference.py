"""Penalties for what was said."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    s, v = case.dims["s"], case.dims["v"]
    return {
        "x": rng.standard_normal((s, v), dtype=np.float32),
        "prompt": rng.random((s, v)) < 0.3,
        "said": rng.random((s, v)) < 0.3,
        "penalty": rng.uniform(1.1, 2.0, s).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, p = inputs["x"], inputs["penalty"][:, None]
    return {"y": np.where(inputs["prompt"] | inputs["said"], np.where(x > 0, x / p, x * p), x)}
