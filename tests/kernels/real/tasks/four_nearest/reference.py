"""The four nearest points of a batch."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n, m = case.dims["n"], case.dims["m"]
    return {
        "x": rng.standard_normal((n, 3), dtype=np.float32),
        "q": rng.standard_normal((m, 3), dtype=np.float32),
        "xs": np.array([0, n], np.int64),
        "qs": np.array([0, m], np.int64),
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
    d = ((inputs["q"][:, None] - inputs["x"]) ** 2).sum(axis=2)
    col = np.argsort(d, axis=1, kind="stable")[:, :4].astype(np.int64)
    return {"row": np.repeat(np.arange(col.shape[0], dtype=np.int64)[:, None], 4, axis=1), "col": col}
