"""Tokens of experts, times three."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; any counts."""
    e, m = case.dims["e"], 32 * case.dims["m"]
    made = {name: rng.standard_normal((e, m, 64), dtype=np.float32) for name in ("x", "y0")}
    return {**made, "counts": rng.integers(0, m + 1, e).astype(np.int32)}


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
    x = inputs["x"]
    is_used = np.arange(x.shape[1]) < inputs["counts"][:, None]
    y = np.where(is_used[:, :, None], 3 * x, inputs["y0"])
    return {"y": y if y.dtype == np.float64 else y.astype(np.float16)}
