"""Rows of an image weighted, and turned."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Bytes and weights."""
    h, w = case.dims["h"], case.dims["w"]
    p = rng.integers(0, 256, (h + 4, w + 4)).astype(np.int32)
    return {"p": p, "f": rng.standard_normal(5, dtype=np.float32)}


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
    p, f, w = inputs["p"], inputs["f"], case.dims["w"]
    rows = sum(f[i] * p[:, i : i + w].astype(f.dtype) for i in range(5))
    return {"y": np.ascontiguousarray(np.asarray(rows).T)}
