"""Loss of rows and its gradient."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values and targets."""
    rows = case.dims["rows"]
    return {
        "x": rng.standard_normal((rows, 320), dtype=np.float32),
        "g": rng.standard_normal(rows, dtype=np.float32),
        "t": rng.integers(0, 300, rows, dtype=np.int32),
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
    x = inputs["x"][:, :300]
    row = np.arange(len(x))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    loss = -np.log(p[row, inputs["t"]])
    p[row, inputs["t"]] -= 1
    d = np.zeros_like(inputs["x"])
    d[:, :300] = p * inputs["g"][:, None]
    return {"loss": loss, "d": d}
