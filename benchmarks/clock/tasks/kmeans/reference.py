"""Nearest of a few centres."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw whole numbers, so that sums of squares are exact in float32."""
    n, features, c = (case.dims[name] for name in ("n", "features", "c"))
    return {
        "feature": rng.integers(0, 32, (features, n)).astype(np.float32),
        "clusters": rng.integers(0, 32, (c, features)).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"member": _nearest(inputs).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the same, as 32-bit whole numbers."""
    return {"member": _nearest(inputs).astype(np.int32)}


def within(altered: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Round to whole numbers in the range of those drawn."""
    return {name: np.clip(np.round(array), 0, 31) for name, array in altered.items()}


def _nearest(inputs: Tensors) -> Array:
    feature, clusters = inputs["feature"].astype(np.float64), inputs["clusters"].astype(np.float64)
    distances = np.stack([((feature - centre[:, None]) ** 2).sum(axis=0) for centre in clusters])
    return np.asarray(np.argmin(distances, axis=0))
