"""Arc sine of each element."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values between -1 and 1."""
    return {"x": rng.uniform(-1, 1, case.dims["n"]).astype(np.float32)}


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
    return {"y": np.arcsin(np.clip(inputs["x"], -1, 1))}
