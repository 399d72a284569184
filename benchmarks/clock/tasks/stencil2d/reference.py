"""Nine-point stencil within a halo."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values, in the halo and the padding too."""
    shape = case.dims["n"] + 2, -(-(case.dims["n"] + 2) // 16) * 16
    return {name: rng.standard_normal(shape).astype(np.float32) for name in ("x", "before")}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64, with the weights as float32 has them."""
    return {"y": _smoothed(inputs, case, np.dtype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": _smoothed(inputs, case, np.dtype(np.float32))}


def _smoothed(inputs: Tensors, case: Case, dtype: np.dtype[np.floating]) -> Array:
    n, x, y = case.dims["n"], inputs["x"].astype(dtype), inputs["before"].astype(dtype)
    centre, cardinal, diagonal = (np.float32(w).astype(dtype) for w in (0.25, 0.15, 0.05))

    def at(row: int, column: int) -> Array:
        return x[1 + row : 1 + row + n, 1 + column : 1 + column + n]

    sides = at(-1, 0) + at(1, 0) + at(0, 1) + at(0, -1)
    corners = at(-1, 1) + at(1, 1) + at(-1, -1) + at(1, -1)
    y[1 : n + 1, 1 : n + 1] = centre * at(0, 0) + cardinal * sides + diagonal * corners
    return y
