"""Rotary position embedding of queries and keys."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, positions, and the cosines and sines of angles."""
    t = case.dims["t"]
    angle = rng.uniform(0, 6.2, (128, 32))
    return {
        "pos": rng.integers(0, 128, t),
        "q": rng.standard_normal((t, 256), dtype=np.float32),
        "k": rng.standard_normal((t, 128), dtype=np.float32),
        "cache": np.concatenate([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    angles = inputs["cache"][inputs["pos"]]
    c, s = angles[:, None, :32], angles[:, None, 32:]
    turned = {}
    for name, made in (("q", "qr"), ("k", "kr")):
        heads = inputs[name].reshape(inputs[name].shape[0], -1, 64)
        a, b = heads[:, :, :32], heads[:, :, 32:]
        turned[made] = np.concatenate([a * c - b * s, b * c + a * s], axis=2).reshape(inputs[name].shape)
    return turned
