"""Where rays meet a sphere."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    d = rng.standard_normal((n, 3), dtype=np.float32)
    return {"o": rng.uniform(-1, 1, (n, 3)).astype(np.float32), "d": d / np.linalg.norm(d, axis=1, keepdims=True)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    o, d = inputs["o"], inputs["d"]
    a, b = (d * d).sum(axis=1), (o * d).sum(axis=1)
    c = (o * o).sum(axis=1) - 16
    t = (np.sqrt(b * b - a * c) - b) / a
    x, y, z = (o + t[:, None] * d).T
    theta, phi = np.arctan2(np.sqrt(x * x + z * z), y), np.arctan2(z, x)
    return {"y": np.stack([2 * theta / np.pi - 1, phi / np.pi], axis=1).astype(o.dtype)}
