"""One step of Jacobi's iteration from zero."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Rows of four."""
    n = case.dims["n"]
    return {
        "b": rng.standard_normal(n),
        "d": rng.standard_normal(n),
        "starts": (4 * np.arange(n + 1)).astype(np.int32),
        "cols": rng.integers(0, n, 4 * n).astype(np.int32),
        "vals": rng.standard_normal(4 * n),
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
    return {"y": 0.7 * inputs["d"] * inputs["b"]}
