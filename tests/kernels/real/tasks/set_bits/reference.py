"""Number of set bits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Integers of 64 bits."""
    return {"x": rng.integers(-(2**63), 2**63 - 1, case.dims["n"], dtype=np.int64)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    return {"y": np.unpackbits(inputs["x"].view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1)}
