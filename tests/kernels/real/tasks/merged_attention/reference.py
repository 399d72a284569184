"""Two parts of an attention merged."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    t, h = case.dims["tokens"], case.dims["heads"]
    return {
        "p": rng.standard_normal((t, h, 64), dtype=np.float32),
        "lp": rng.standard_normal((h, t), dtype=np.float32),
        "s": rng.standard_normal((t, h, 64), dtype=np.float32),
        "ls": rng.standard_normal((h, t), dtype=np.float32),
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
    top = np.maximum(inputs["lp"], inputs["ls"])
    p, s = np.exp(inputs["lp"] - top), np.exp(inputs["ls"] - top)
    weighted = inputs["p"] * (p / (p + s)).T[..., None] + inputs["s"] * (s / (p + s)).T[..., None]
    return {"y": weighted, "l": np.log(p + s) + top}
