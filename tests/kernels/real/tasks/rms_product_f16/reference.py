"""RMS norm of rows of 256 in half precision."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {
        "x": rng.standard_normal((case.dims["rows"], 256), dtype=np.float32),
        "w": rng.standard_normal(256, dtype=np.float32),
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
    x, w = inputs["x"], inputs["w"]
    wide = x if x.dtype == np.float64 else x.astype(np.float32)
    scale = 1 / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + 1e-6)
    return {"y": x * scale.astype(x.dtype) * w}
