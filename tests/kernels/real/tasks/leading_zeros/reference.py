"""Leading zeros of words."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    shape = (case.dims["h"], case.dims["w"])
    return {
        "b": rng.integers(-(2**31), 2**31, shape, dtype=np.int32) >> rng.integers(0, 32, shape, dtype=np.int32),
        "d": rng.integers(0, 2**63, shape, dtype=np.int64) >> rng.integers(0, 63, shape),
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
    b, d = inputs["b"].view(np.uint32), inputs["d"].view(np.uint64)
    return {
        "a": 32 - (b[..., None] >> np.arange(32, dtype=np.uint32) != 0).sum(axis=-1).astype(np.int32),
        "c": 64 - (d[..., None] >> np.arange(64, dtype=np.uint64) != 0).sum(axis=-1).astype(np.int32),
    }
