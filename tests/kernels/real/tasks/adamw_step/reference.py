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
    m = 0.9 * inputs["m"] + 0.1 * g
    v = 0.999 * inputs["v"] + 0.001 * g * g
    step = (m / 0.1) / (np.sqrt(v / 0.001) + 1e-8) + 0.01 * p
    return {"pn": (p - 0.001 * step).astype(p.dtype), "mn": m.astype(p.dtype), "vn": v.astype(p.dtype)}
