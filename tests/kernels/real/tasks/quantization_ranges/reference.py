"""Scales and zero points of ranges."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Ranges around 0."""
    n = case.dims["n"]
    return {"low": -1 - rng.random(n, dtype=np.float32), "high": 1 + rng.random(n, dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    low, high = (inputs[name].astype(np.float64) for name in ("low", "high"))
    scale = ((high - low) / 255).astype(np.float32)
    wide = scale.astype(np.float64)
    from_low, from_high = -low / wide, 255 - high / wide
    nearer = np.abs(low / wide) < 255 + np.abs(high / wide)
    return {"scale": scale, "zero": np.rint(np.clip(np.where(nearer, from_low, from_high), 0, 255)).astype(np.int64)}
