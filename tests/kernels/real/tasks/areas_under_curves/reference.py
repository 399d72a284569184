"""Areas under curves of hits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    t, n = case.dims["t"], case.dims["n"]
    return {
        "order": np.stack([rng.permutation(n).astype(np.int32) for _ in range(t)]),
        "label": rng.integers(0, 2, (t, n)).astype(np.float32),
        "weight": rng.random((t, n), dtype=np.float32),
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
    label = np.take_along_axis(inputs["label"], inputs["order"], axis=1)
    weight = np.take_along_axis(inputs["weight"], inputs["order"], axis=1)
    hits, misses = np.cumsum(weight * label, axis=1), np.cumsum(weight * (1 - label), axis=1)
    area = (np.diff(misses, axis=1) * (hits[:, 1:] + hits[:, :-1]) / 2).sum(axis=1)
    both = hits[:, -1] * misses[:, -1]
    divisor = np.where(both == 0, 1, both)
    return {"y": np.where(both == 0, 0.5, area / divisor).astype(hits.dtype)}
