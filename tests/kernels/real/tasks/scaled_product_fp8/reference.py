"""Product of scaled bytes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values and scales."""
    return {
        "a": rng.standard_normal((1024, 96), dtype=np.float32).astype(ml_dtypes.float8_e4m3fnuz),
        "b": rng.standard_normal((1024, 1024), dtype=np.float32).astype(ml_dtypes.float8_e4m3fnuz),
        "sa": rng.uniform(0.5, 2, (8, 96)).astype(np.float32),
        "sb": rng.uniform(0.5, 2, (8, 8)).astype(np.float32),
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
    wide = np.float64 if inputs["a"].dtype == np.float64 else np.float32
    a, b = (inputs[name].astype(wide) for name in "ab")
    sa, sb = inputs["sa"].astype(wide), inputs["sb"].astype(wide)
    a = a * sa.repeat(128, axis=0)
    b = b * sb.repeat(128, axis=0).repeat(128, axis=1)
    c = a.T @ b
    return {"c": c.astype(inputs["a"].dtype if wide == np.float64 else ml_dtypes.bfloat16)}
