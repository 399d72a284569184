"""Products of halves added up."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    return {"a": rng.standard_normal(n).astype(np.float16), "b": rng.standard_normal(n).astype(np.float16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    terms = (inputs["a"] * inputs["b"])[256:]
    return {
        "y": terms.sum(keepdims=True, dtype=terms.dtype).astype(np.float32 if terms.dtype == np.float16 else np.float64)
    }
