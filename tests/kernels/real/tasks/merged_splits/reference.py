"""Attention of six splits merged."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    t = case.dims["t"]
    return {
        "p": rng.standard_normal((6 * t, 16, 128), dtype=np.float32),
        "l": rng.standard_normal((6 * t, 16), dtype=np.float32),
        "places": rng.permutation(6 * t).astype(np.int32),
        "starts": (6 * np.arange(t + 1)).astype(np.int32),
        "tiles": np.stack([np.arange(t), np.arange(t) + 1], axis=1).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32, cut to bfloat16."""
    made = _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )
    bits = made["o"].astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return {**made, "o": bits.view(np.float32)}


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    p = inputs["p"][inputs["places"]].reshape(-1, 6, 16, 128)
    log = inputs["l"][inputs["places"]].reshape(-1, 6, 16)
    top = log.max(axis=1)
    e = np.exp(log - top[:, None])
    total = e.sum(axis=1)
    return {"o": (e[..., None] * p).sum(axis=1) / total[..., None], "y": np.log(total) + top}
