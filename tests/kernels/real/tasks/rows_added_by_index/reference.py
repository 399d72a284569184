"""Rows added by their indices."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    t, e = case.dims["t"], case.dims["e"]
    return {
        "x": rng.standard_normal((t, e, 64), dtype=np.float32),
        "rows": rng.standard_normal((16, 64), dtype=np.float32),
        "ids": rng.integers(0, 16, (t, e), dtype=np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    return {"y": inputs["x"] + inputs["rows"][inputs["ids"]]}
