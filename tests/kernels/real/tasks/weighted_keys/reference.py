"""Weighted keys and values of RWKV with a state."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    b, t, c = (case.dims[name] for name in "btc")
    state = rng.standard_normal((b, c, 3), dtype=np.float32)
    state[..., 1] = np.abs(state[..., 1]) + 0.5
    return {
        "w": -np.abs(rng.standard_normal(c, dtype=np.float32)) - np.float32(0.1),
        "u": rng.standard_normal(c, dtype=np.float32),
        "k": rng.standard_normal((b, t, c), dtype=np.float32),
        "v": rng.standard_normal((b, t, c), dtype=np.float32),
        "s0": state,
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    k, v, w, u = (inputs[name] for name in "kvwu")
    aa, bb, pp = (inputs["s0"][..., i] for i in range(3))
    y = np.empty_like(k)
    for i in range(k.shape[1]):
        ww = u + k[:, i]
        p = np.maximum(pp, ww)
        e1, e2 = np.exp(pp - p), np.exp(ww - p)
        y[:, i] = (e1 * aa + e2 * v[:, i]) / (e1 * bb + e2)
        ww = w + pp
        p = np.maximum(ww, k[:, i])
        e1, e2 = np.exp(ww - p), np.exp(k[:, i] - p)
        aa, bb, pp = e1 * aa + e2 * v[:, i], e1 * bb + e2, p
    return {"y": y, "s": np.stack([aa, bb, pp], axis=-1)}
