"""Groups of 64 scaled to 8 bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["groups"], 64), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    s = np.maximum(np.abs(x).max(axis=1, keepdims=True), x.dtype.type(1e-10)) / x.dtype.type(224)
    y = np.clip(x / s, -224, 224)
    return {"y": y.astype(ml_dtypes.float8_e4m3fnuz if x.dtype == np.float32 else x.dtype), "s": s[:, 0]}
