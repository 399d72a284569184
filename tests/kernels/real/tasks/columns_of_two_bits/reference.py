"""Blocks of two bits, spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Any scales and quants; small factors."""
    n = case.dims["n"]
    x = rng.integers(0, 256, (n, 84)).astype(np.uint8)
    x[:, 80:] = rng.uniform(0.05, 0.5, (n, 2)).astype(np.float16).view(np.uint8)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(inputs, case, np.float64)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float16."""
    return _computed(inputs, case, np.float16)


def _computed(inputs: Tensors, case: Case, dtype: Any) -> dict[str, Array]:
    x, n = inputs["x"], case.dims["n"]
    d, m = (np.ascontiguousarray(x[:, 80:]).view(np.float16)[:, i, None].astype(dtype) for i in (0, 1))
    scales = x[:, :16].repeat(16, axis=1)
    shifts = np.arange(4)[None, None, :, None] * 2
    quants = (x[:, 16:80].reshape(n, 2, 1, 32) >> shifts & 3).reshape(n, 256)
    y = d * ((scales & 15) * quants).astype(dtype) - m * (scales >> 4).astype(dtype)
    return {"y": y if dtype is np.float64 else y.astype(np.float32)}
