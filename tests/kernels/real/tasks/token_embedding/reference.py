"""Token and position embeddings."""

from __future__ import annotations

import numpy as np
from ml_dtypes import bfloat16

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Tokens and normal values."""
    b, t = case.dims["b"], case.dims["t"]
    return {
        "tokens": rng.integers(0, 100, (b, t)).astype(np.int32),
        "e": rng.standard_normal((100, 64), dtype=np.float32).astype(bfloat16),
        "p": rng.standard_normal((t, 64), dtype=np.float32).astype(bfloat16),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    e, p = inputs["e"].astype(np.float64), inputs["p"].astype(np.float64)
    return {"y": (e[inputs["tokens"]] + p[None]).astype(inputs["e"].dtype)}
