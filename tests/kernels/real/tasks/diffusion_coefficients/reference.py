"""Coefficients of anisotropic diffusion."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """A positive image, and the clamped neighbours of each row and column."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    row, col = np.arange(rows, dtype=np.int32), np.arange(cols, dtype=np.int32)
    return {
        "x": np.exp(rng.standard_normal((cols, rows), dtype=np.float32) / 4),
        "north": np.maximum(row - 1, 0),
        "south": np.minimum(row + 1, rows - 1),
        "east": np.minimum(col + 1, cols - 1),
        "west": np.maximum(col - 1, 0),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    q0 = x.dtype.type(0.05)
    dn, ds = x[:, inputs["north"]] - x, x[:, inputs["south"]] - x
    de, dw = x[inputs["east"]] - x, x[inputs["west"]] - x
    squares = (dn * dn + ds * ds + dw * dw + de * de) / (x * x)
    change = (dn + ds + dw + de) / x
    q = (squares / 2 - change * change / 16) / (1 + change / 4) ** 2
    c = np.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)
    return {"dn": dn, "ds": ds, "de": de, "dw": dw, "c": c}
