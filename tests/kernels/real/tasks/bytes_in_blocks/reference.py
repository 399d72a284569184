"""Blocks of 32 bytes with a scale."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Random bytes behind scales."""
    x = rng.integers(0, 256, (case.dims["rows"], 8, 34)).astype(np.uint8)
    d = rng.uniform(0.01, 1, (case.dims["rows"], 8, 1)).astype(np.float16)
    x[..., :2] = d.view(np.uint8)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = np.ascontiguousarray(inputs["x"])
    d = np.ascontiguousarray(x[..., :2]).view(np.float16).astype(np.float32)
    q = np.ascontiguousarray(x[..., 2:]).view(np.int8)
    return {"y": (d * q).reshape(len(x), 256)}
