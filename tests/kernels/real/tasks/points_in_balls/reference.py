"""Points in balls."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n, m, b = case.dims["n"], case.dims["m"], case.dims["b"]
    return {
        "u": rng.standard_normal((b, n, 3), dtype=np.float32),
        "v": rng.standard_normal((b, m, 3), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    d = ((inputs["v"][:, :, None] - inputs["u"][:, None]) ** 2).sum(axis=-1)
    inside = (d < 1) | (d == 0)
    rank = np.where(inside, np.arange(d.shape[-1]), d.shape[-1])
    at = np.sort(rank, axis=-1)[..., :8]
    at = np.pad(at, ((0, 0), (0, 0), (0, 8 - at.shape[-1])), constant_values=d.shape[-1])
    first = np.where(at[..., :1] < d.shape[-1], at[..., :1], 0)
    return {"at": np.where(at < d.shape[-1], at, first).astype(np.int32)}
