"""Values of European options."""

from __future__ import annotations

import math

import numpy as np

from tasks.task import Array, Case, Tensors


def _normal(x: Array) -> Array:
    return (0.5 + 0.5 * np.array([math.erf(one / math.sqrt(2)) for one in x])).astype(x.dtype)


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Strikes and spots from 50 to 150."""
    n = case.dims["n"]
    real = rng.random((n, 9), dtype=np.float32)
    real[:, 1:3] = 50 + 100 * real[:, 1:3]
    real[:, 3:5] /= 10
    real[:, 5:7] += np.float32(0.1)
    real.view(np.int32)[:, 0] = rng.integers(0, 2, n)
    return {"x": real}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    kind, strike, spot, dividend, rate, time, volatility = inputs["x"][:, :7].T
    deviation = volatility * np.sqrt(time)
    forward = spot * np.exp((rate - dividend) * time)
    d1 = np.log(forward / strike) / deviation + deviation / 2
    sign = np.where(kind == 0, 1, -1).astype(kind.dtype)
    value = sign * (forward * _normal(sign * d1) - strike * _normal(sign * (d1 - deviation)))
    return {"y": np.exp(-rate * time) * value}
