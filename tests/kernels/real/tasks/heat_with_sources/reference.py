"""Two steps of heat with sources."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Temperatures around 80."""
    shape = case.dims["rows"], case.dims["cols"]
    return {
        "p": rng.standard_normal(shape, dtype=np.float32),
        "t": 80 + 10 * rng.standard_normal(shape, dtype=np.float32),
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
    t, p = inputs["t"], inputs["p"]
    for _ in range(2):
        e = np.pad(t, 1, mode="edge")
        vertical = (e[2:, 1:-1] + e[:-2, 1:-1] - 2 * t) / 2
        level = (e[1:-1, 2:] + e[1:-1, :-2] - 2 * t) / 4
        t = t + (p + vertical + level + (80 - t) / 8) / 2
    return {"y": t.astype(p.dtype)}
