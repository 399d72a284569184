"""One step of attention over a cache."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {
        "q": rng.standard_normal((2 * d["groups"], 16), dtype=np.float32),
        "k": rng.standard_normal((d["steps"], d["groups"], 16), dtype=np.float32),
        "v": rng.standard_normal((d["steps"], d["groups"], 16), dtype=np.float32),
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
    q, k, v = inputs["q"], inputs["k"].repeat(2, axis=1), inputs["v"].repeat(2, axis=1)
    s = np.einsum("hd,thd->ht", q, k) / 4
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return {"y": np.einsum("ht,thd->hd", p / p.sum(axis=1, keepdims=True), v)}
