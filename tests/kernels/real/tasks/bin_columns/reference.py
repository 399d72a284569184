"""Columns of the blocks of each bin."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Ends of bins in multiples of 128, the last one at the end."""
    ends = np.sort(rng.integers(0, case.dims["rows"] + 1, case.dims["e"]))
    ends[-1] = case.dims["rows"]
    return {"bins": (128 * ends).astype(np.int32)}


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
    rows, cols = case.dims["rows"], case.dims["cols"]
    bins = np.searchsorted(inputs["bins"] // 128, np.arange(rows), side="right")
    return {"y": (bins[:, None] * cols + np.arange(cols)).astype(np.int16)}
