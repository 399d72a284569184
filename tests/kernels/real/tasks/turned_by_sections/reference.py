"""Pairs turned by positions of four kinds."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; positions below 100."""
    tokens, heads = case.dims["tokens"], case.dims["heads"]
    return {
        "x": rng.standard_normal((tokens, heads, 32), dtype=np.float32),
        "pos": rng.integers(0, 100, (4, tokens)).astype(np.int32),
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
    x, pos = inputs["x"], inputs["pos"].repeat(4, axis=0).T
    step = x.dtype.type(10000.0 ** (-1 / 16))
    angle = (pos.astype(x.dtype) * step ** np.arange(16, dtype=x.dtype))[:, None, :]
    low, high = x[:, :, :16], x[:, :, 16:]
    turned = (low * np.cos(angle) - high * np.sin(angle), low * np.sin(angle) + high * np.cos(angle))
    return {"y": np.concatenate(turned, axis=2).astype(x.dtype)}
