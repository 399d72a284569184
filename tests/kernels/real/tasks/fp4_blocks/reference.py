"""Numbers rounded to four bits by blocks."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal((case.dims["blocks"], 32), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"].astype(np.float64)
    top = np.abs(x).max(axis=1, keepdims=True)
    fraction, power = np.frexp(top)
    power = power - 1 + (2 * fraction >= 1.75)
    scale = 2.0 ** (power - 2)
    size = np.abs(x / scale)
    step = np.where(size < 2, 0.5, np.where(size < 4, 1.0, 2.0))
    rounded = np.minimum(np.rint(size / step) * step, 6)
    return {"y": np.copysign(rounded * scale, x).astype(inputs["x"].dtype)}
