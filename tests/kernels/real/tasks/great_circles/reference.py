"""Distances on a sphere."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Degrees from -40 to 40."""
    return {"x": rng.uniform(-40, 40, (case.dims["n"], 4))}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    lat, lon, lat2, lon2 = np.radians(inputs["x"]).T
    h = np.sin((lat2 - lat) / 2) ** 2 + np.sin((lon2 - lon) / 2) ** 2 * np.cos(lat) * np.cos(lat2)
    return {"y": 2 * 6371.0 * np.arcsin(np.sqrt(h))}
