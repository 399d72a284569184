"""Rows of a table by index."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Random rows, the last one among them."""
    n, m = case.dims["n"], case.dims["m"]
    idx = rng.integers(m, size=n).astype(np.int32)
    idx[rng.integers(n)] = m - 1
    return {"idx": idx, "table": rng.standard_normal((m, 256), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    return {"y": inputs["table"][inputs["idx"]]}
