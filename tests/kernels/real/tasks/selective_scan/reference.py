"""A selective scan."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, decays from -1 to 0."""
    batch, channels, steps = (case.dims[name] for name in ("batch", "channels", "steps"))
    return {
        "u": rng.standard_normal((batch, channels, steps), dtype=np.float32),
        "delta": rng.standard_normal((batch, channels, steps), dtype=np.float32),
        "a": -rng.random((channels, 4), dtype=np.float32),
        "b": rng.standard_normal((channels, 4), dtype=np.float32),
        "c": rng.standard_normal((channels, 4), dtype=np.float32),
        "d": rng.standard_normal(channels, dtype=np.float32),
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
    u, delta = inputs["u"], np.log1p(np.exp(inputs["delta"]))
    h, y = np.zeros((*u.shape[:2], 4), u.dtype), inputs["d"][:, None] * u
    for t in range(u.shape[2]):
        step = delta[:, :, t, None]
        h = np.exp(step * inputs["a"]) * h + step * u[:, :, t, None] * inputs["b"]
        y[:, :, t] += (h * inputs["c"]).sum(axis=2)
    return {"y": y}
