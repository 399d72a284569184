"""Nearest cluster of each point."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Small whole numbers, so that distances are exact."""
    d = case.dims
    x = rng.integers(-20, 20, (d["features"], d["points"])).astype(np.float32)
    return {"x": x, "centre": rng.integers(-20, 20, (d["clusters"], d["features"])).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, c = inputs["x"], inputs["centre"]
    distance = ((x[None] - c[:, :, None]) ** 2).sum(axis=1)
    return {"member": distance.argmin(axis=0).astype(np.int32)}
