"""Streams mixed after a layer."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    t = case.dims["t"]
    return {
        "x": rng.standard_normal((t, 96), dtype=np.float32),
        "r": rng.standard_normal((t, 4, 96), dtype=np.float32),
        "post": rng.standard_normal((t, 4), dtype=np.float32),
        "comb": rng.standard_normal((t, 4, 4), dtype=np.float32),
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
    mixed = np.einsum("tgh,tgi->thi", inputs["comb"], inputs["r"])
    return {"y": inputs["post"][:, :, None] * inputs["x"][:, None, :] + mixed}
