"""Group norm with its statistics."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    batch, groups = case.dims["batch"], case.dims["groups"]
    return {
        "x": rng.standard_normal((batch, groups, 4, 49), dtype=np.float32),
        "w": rng.standard_normal((groups, 4), dtype=np.float32),
        "b": rng.standard_normal((groups, 4), dtype=np.float32),
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
    x = inputs["x"]
    m, v = x.mean(axis=(2, 3)), x.var(axis=(2, 3))
    s = 1 / np.sqrt(v + x.dtype.type(1e-5))
    y = (x - m[..., None, None]) * s[..., None, None] * inputs["w"][..., None] + inputs["b"][..., None]
    return {"y": y, "m": m, "s": s}
