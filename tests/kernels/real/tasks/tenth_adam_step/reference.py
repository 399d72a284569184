"""The tenth step of Adam."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    values = {name: rng.standard_normal(n, dtype=np.float32) for name in ("p", "g", "m")}
    return {**values, "v": rng.uniform(0.1, 0.9, n).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    p = inputs["p"]
    one, two, rate, decay, eps = (p.dtype.type(np.float32(x)) for x in (0.9, 0.999, 0.001, 0.01, 1e-8))
    g = inputs["g"] + decay * p
    m = one * inputs["m"] + (1 - one) * g
    v = two * inputs["v"] + (1 - two) * g * g
    pn = p - rate / (1 - one**10) * m / (np.sqrt(v) / np.sqrt(1 - two**10) + eps)
    return {"pn": pn.astype(p.dtype), "mn": m.astype(p.dtype), "vn": v.astype(p.dtype)}
