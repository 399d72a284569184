"""Velocities after a step of gravity."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n = case.dims["n"]
    return {"p": rng.standard_normal((n, 4), dtype=np.float32), "v0": rng.standard_normal((n, 4), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    p, v = inputs["p"][:, :3], inputs["v0"].copy()
    for at in range(0, len(p), 256):
        d = p - p[at : at + 256, None]
        r = (d * d).sum(axis=2) + d.dtype.type(1e-9)
        v[at : at + 256, :3] += d.dtype.type(0.01) * (d / (r * np.sqrt(r))[..., None]).sum(axis=1)
    return {"v": v}
