"""The four best of 128 experts."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Scores with their bias that lie apart, in any order: the four best are no matter of rounding."""
    rows = case.dims["rows"]
    b = 0.02 * rng.uniform(-1, 1, 128)
    steps = np.arange(128) + 0.3 * rng.uniform(-1, 1, (rows, 128))
    score = rng.permuted(0.05 + 0.9 * steps / 128, axis=1) - b
    return {"x": np.log(score / (1 - score)).astype(np.float32), "b": b.astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    score = 1 / (1 + np.exp(-inputs["x"]))
    ids = np.argsort(-(score + inputs["b"]), axis=1, kind="stable")[:, :4]
    w = np.take_along_axis(score, ids, axis=1)
    return {"w": 2.5 * w / w.sum(axis=1, keepdims=True), "ids": ids.astype(np.int32)}
