"""Scores of a global alignment."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Scores from -10 to 10; the first row and column fall by 10."""
    n = case.dims["n"] + 1
    start = np.zeros((n, n), np.int32)
    start[0] = start[:, 0] = -10 * np.arange(n)
    return {"start": start, "r": rng.integers(-10, 11, (n, n), dtype=np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    s, r = inputs["start"].astype(np.int64), inputs["r"]
    n = len(s) - 1
    for total in range(2, 2 * n + 1):
        i = np.arange(max(1, total - n), min(n, total - 1) + 1)
        j = total - i
        gap = np.maximum(s[i, j - 1], s[i - 1, j]) - 10
        s[i, j] = np.maximum(s[i - 1, j - 1] + r[i, j], gap)
    return {"s": s}
