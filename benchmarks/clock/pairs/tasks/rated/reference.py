"""A sum whose factors are chosen by a number of the data."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def _sum(x: Array, kind: Array, table: Array) -> Array:
    y = np.zeros(x.shape[1], x.dtype)
    for row in range(16):
        y += np.roll(x[row], -row) * table[(kind & 15) + row]
    return y


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    n = case.dims["n"]
    x, table = rng.standard_normal((16, n)), rng.standard_normal(32)
    return {
        "x": x.astype(np.float32),
        "kind": rng.integers(0, 16, n).astype(np.int32),
        "table": table.astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in double precision."""
    return {"y": _sum(inputs["x"].astype(np.float64), inputs["kind"], inputs["table"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in single precision."""
    return {"y": _sum(inputs["x"], inputs["kind"], inputs["table"])}
