"""A selective scan that keeps its states."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; decays."""
    batch, channels, steps = (case.dims[name] for name in ("batch", "channels", "steps"))
    shapes = {
        "u": (batch, channels, steps),
        "delta": (batch, channels, steps),
        "b": (batch, 4, steps),
        "c": (batch, 4, steps),
        "d": (channels,),
        "s0": (batch, channels, 4),
    }
    made = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    return {**made, "a": -rng.uniform(0.1, 1, (channels, 4)).astype(np.float32)}


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
    u, a, b, c, d = (inputs[name] for name in ("u", "a", "b", "c", "d"))
    t, state, y = np.logaddexp(0, inputs["delta"]), inputs["s0"].copy(), np.empty_like(u)
    for i in range(u.shape[2]):
        step = t[:, :, i, None]
        state = np.exp(step * a) * state + step * u[:, :, i, None] * b[:, None, :, i]
        y[:, :, i] = (state * c[:, None, :, i]).sum(axis=2) + d * u[:, :, i]
    return {"y": y, "s": state}
