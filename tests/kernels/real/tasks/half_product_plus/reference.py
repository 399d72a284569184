"""Half-precision product plus a matrix."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {
        "a": rng.standard_normal((d["m"], d["k"]), dtype=np.float32),
        "b": rng.standard_normal((d["n"], d["k"]), dtype=np.float32),
        "c": rng.standard_normal((d["m"], d["n"]), dtype=np.float32),
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
    kind = inputs["c"].dtype
    return {"d": 2 * (inputs["a"].astype(kind) @ inputs["b"].astype(kind).T) + 2 * inputs["c"]}
