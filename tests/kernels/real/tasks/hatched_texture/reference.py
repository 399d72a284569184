"""A hatch pattern."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {"x": rng.random((d["h"], d["w"], 4), dtype=np.float32)}


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
    h, w = x.shape[:2]
    across = 0.5 + 0.5 * np.cos(0.25 + 10 * (2 * np.arange(w) / w - 1))
    down = 0.5 + 0.5 * np.cos(0.25 + 10 * (2 * np.arange(h) / h - 1))
    y = np.ones_like(x)
    y[..., 0] = 0.5 * x[..., 0] + 0.5 * across[None, :] ** 3
    y[..., 1] = 0.5 * x[..., 1] + 0.5 * down[:, None] ** 3
    y[..., 2] = 0.5 + 0.5 * np.cos(0.25)
    return {"y": y}
