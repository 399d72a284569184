"""Experts' tokens counted in blocks."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Numbers of experts."""
    return {"x": rng.integers(0, 16, case.dims["n"], dtype=np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    n = len(inputs["x"])
    blocks = -(-np.bincount(inputs["x"], minlength=16) // 16)
    experts = np.zeros((n + 255) // 16, np.int64)
    experts[: blocks.sum()] = np.repeat(np.arange(16), blocks)
    sums = 16 * np.concatenate(([0], np.cumsum(blocks)))
    return {"sorted": np.full(n + 240, n), "experts": experts, "total": sums[-1:], "sums": sums}
