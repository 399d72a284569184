"""Scores of queries and keys below the diagonal."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n = 128 * case.dims["tiles"]
    return {
        "x": rng.standard_normal((n, 192), dtype=np.float32),
        "s0": rng.standard_normal((4, n, n), dtype=np.float32),
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
    q, k, _ = inputs["x"].reshape(-1, 3, 4, 16).transpose(1, 2, 0, 3)
    block = np.arange(len(q[0])) // 8
    return {"s": np.where(block <= block[:, None], q @ k.swapaxes(1, 2) / q.dtype.type(4), inputs["s0"])}
