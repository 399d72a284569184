"""Convolution of a padded image with a mask."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {
        "x": rng.standard_normal((case.dims["h"] + 4, case.dims["w"] + 4), dtype=np.float32),
        "m": rng.standard_normal((5, 5), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    h, w = case.dims["h"], case.dims["w"]
    y = np.zeros((h, w), inputs["x"].dtype)
    for i in range(5):
        for j in range(5):
            y += inputs["x"][i : i + h, j : j + w] * inputs["m"][i, j]
    return {"y": y}
