"""Laplacian of a grid by seven points."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {name: rng.standard_normal((case.dims["n"],) * 3) for name in ("u", "before")}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in extended precision."""
    return {"f": _laplacian(inputs, case, np.dtype(np.longdouble)).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"f": _laplacian(inputs, case, np.dtype(np.float64))}


def _laplacian(inputs: Tensors, case: Case, dtype: np.dtype[np.floating]) -> Array:
    u, f, scale = inputs["u"].astype(dtype), inputs["before"].astype(dtype), dtype.type((case.dims["n"] - 1) ** 2)
    inner = (slice(1, -1),) * 3
    total = u[inner] * (-6 * scale)
    for axis in range(3):
        before, behind = list(inner), list(inner)
        before[axis], behind[axis] = slice(None, -2), slice(2, None)
        total += (u[tuple(before)] + u[tuple(behind)]) * scale
    f[inner] = total
    return f
