"""Layer norm of a sum of two."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    rows = case.dims["rows"]
    return {
        "a": rng.standard_normal((rows, 256), dtype=np.float32),
        "b": rng.standard_normal((rows, 256), dtype=np.float32),
        "w": rng.standard_normal(256, dtype=np.float32),
        "v": rng.standard_normal(256, dtype=np.float32),
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
    kind = inputs["a"].dtype
    r = (inputs["a"] + inputs["b"]).astype(ml_dtypes.bfloat16)
    x = r.astype(np.float64 if kind == np.float64 else np.float32)
    m = x.mean(axis=1)
    s = 1 / np.sqrt(x.var(axis=1) + 1e-5)
    y = (x - m[:, None]) * s[:, None] * inputs["w"].astype(x.dtype) + inputs["v"].astype(x.dtype)
    return {"r": r, "y": y.astype(kind), "m": m, "s": s}
