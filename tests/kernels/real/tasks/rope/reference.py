"""Rotary position embedding."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["t"], 256), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    t = np.arange(x.shape[0])[:, None]
    angle = (t / 10000.0 ** (np.arange(128) / 128)[None]).astype(x.dtype)
    c, s, a, b = np.cos(angle), np.sin(angle), x[:, ::2], x[:, 1::2]
    return {"y": np.stack([a * c - b * s, a * s + b * c], axis=2).reshape(x.shape)}
