"""One step of AdamW."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; second moments are positive."""
    n = case.dims["n"]
    values = {name: rng.standard_normal(n, dtype=np.float32) for name in ("p", "g", "m")}
    return {**values, "v": rng.random(n, dtype=np.float32) + np.float32(0.1)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    p, g = inputs["p"], inputs["g"]
    one, two = p.dtype.type(np.float32(0.9)), p.dtype.type(np.float32(0.999))  # what a kernel gets, exactly
    m = one * inputs["m"] + (1 - one) * g
    v = two * inputs["v"] + (1 - two) * g * g
    step = (m / p.dtype.type(0.1)) / (np.sqrt(v / p.dtype.type(0.001)) + p.dtype.type(1e-8)) + p.dtype.type(0.01) * p
    return {"pn": (p - p.dtype.type(0.001) * step).astype(p.dtype), "mn": m.astype(p.dtype), "vn": v.astype(p.dtype)}
