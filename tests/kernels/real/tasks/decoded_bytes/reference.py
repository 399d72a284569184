"""Bytes decoded by a code."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """A rising code, random bytes and scales."""
    n = case.dims["n"]
    return {
        "code": np.linspace(-1, 1, 256, dtype=np.float32),
        "x": rng.integers(0, 256, n).astype(np.uint8),
        "s": rng.uniform(0.1, 2, (n + 63) // 64).astype(np.float32),
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
    x = inputs["x"]
    return {"y": inputs["code"][x] * inputs["s"][np.arange(len(x)) // 64]}
