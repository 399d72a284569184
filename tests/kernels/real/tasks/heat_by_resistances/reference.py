"""A step of heat in a chip."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {
        "p": rng.random((d["h"], d["w"]), dtype=np.float32),
        "t": 80 + rng.standard_normal((d["h"], d["w"]), dtype=np.float32),
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
    t = inputs["t"]
    wide = np.pad(t, 1, mode="edge")
    down = (wide[2:, 1:-1] + wide[:-2, 1:-1] - 2 * t) / 4
    along = (wide[1:-1, 2:] + wide[1:-1, :-2] - 2 * t) / 2
    return {"y": t + (inputs["p"] + down + along + (80 - t) / 8) / 4}
