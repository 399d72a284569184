"""Gated linear attention."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; decays."""
    b, steps, h = (case.dims[name] for name in ("b", "steps", "h"))
    made = {name: rng.standard_normal((b, steps, h, 64), dtype=np.float32) for name in ("k", "v", "r")}
    made["td"] = rng.uniform(0.5, 1, (b, steps, h, 64)).astype(np.float32)
    return {**made, "s0": rng.standard_normal((b, h, 64, 64), dtype=np.float32)}


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
    k, v, r, td, state = (inputs[name] for name in ("k", "v", "r", "td", "s0"))
    y = np.empty_like(k)
    for t in range(k.shape[1]):
        state = td[:, t, :, :, None] * state + k[:, t, :, :, None] * v[:, t, :, None, :]
        y[:, t] = (r[:, t, :, :, None] * state).sum(axis=2) / 8
    return {"y": np.concatenate([y.ravel(), state.ravel()])}
