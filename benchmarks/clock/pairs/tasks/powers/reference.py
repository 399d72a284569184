"""Sums of powers of rows."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def _sums(x: Array) -> Array:
    y, powers = x.copy(), []
    for _ in range(8):
        powers.append(y.sum(axis=1, dtype=x.dtype))
        y = y * x
    return np.stack(powers)


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values about one."""
    x = rng.uniform(0.5, 1.5, (case.dims["rows"], case.dims["cols"]))
    return {"x": x.astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"s": _sums(inputs["x"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision."""
    return {"s": _sums(inputs["x"])}
