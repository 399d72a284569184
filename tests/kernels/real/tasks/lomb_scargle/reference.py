"""Periodogram of unevenly spaced samples."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Samples of a sine in noise."""
    n, m = case.dims["n"], case.dims["m"]
    x = np.sort(rng.uniform(0, 20, n)).astype(np.float32)
    y = (np.sin(3 * x) + rng.standard_normal(n)).astype(np.float32)
    return {"x": x, "y": y, "freqs": rng.uniform(0.5, 8, m).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, y, f = inputs["x"], inputs["y"], inputs["freqs"]
    angle = f[:, None] * x[None]
    tau = np.arctan2(np.sin(2 * angle).sum(axis=1), np.cos(2 * angle).sum(axis=1)) / (2 * f)
    angle = f[:, None] * (x[None] - tau[:, None])
    c, s = np.cos(angle), np.sin(angle)
    return {"p": ((c @ y) ** 2 / (c**2).sum(axis=1) + (s @ y) ** 2 / (s**2).sum(axis=1)) * x.dtype.type(0.25)}
