"""Embeddings of tokens, positions and languages."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    ids = rng.integers(0, 50, (d["b"], d["s"])).astype(np.int32)
    ids[rng.random(ids.shape) < 0.2] = 3
    ids[:, 0] = rng.integers(0, 3, d["b"])
    rows = {"tokens": 50, "positions": d["s"], "languages": 4}
    return {"ids": ids, **{name: rng.standard_normal((n, d["d"]), dtype=np.float32) for name, n in rows.items()}}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    ids = inputs["ids"]
    y = inputs["tokens"][ids] + inputs["positions"] + inputs["languages"][ids[:, :1]]
    return {"y": np.where(ids[..., None] == 3, 0, y).astype(y.dtype), "padding": (ids == 3).astype(np.int32)}
