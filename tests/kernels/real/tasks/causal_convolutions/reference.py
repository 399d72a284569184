"""Causal convolutions of four steps."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {
        "x": rng.standard_normal((d["b"], d["c"], d["t"]), dtype=np.float32),
        "w": rng.standard_normal((d["c"], 4), dtype=np.float32),
        "bias": rng.standard_normal(d["c"], dtype=np.float32),
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
    x = np.pad(inputs["x"], ((0, 0), (0, 0), (3, 0)))
    t = case.dims["t"]
    parts = [inputs["w"][:, i, None] * x[:, :, i : i + t] for i in range(4)]
    return {"y": inputs["bias"][:, None] + parts[0] + parts[1] + parts[2] + parts[3]}
