"""Causal linear attention."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    n, h, steps, e, m = (case.dims[name] for name in "nhlem")
    return {
        "q": rng.standard_normal((n, h, steps, e), dtype=np.float32),
        "k": rng.standard_normal((n, h, steps, e), dtype=np.float32),
        "v": rng.standard_normal((n, h, steps, m), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    scores = np.tril(np.einsum("nhte,nhse->nhts", inputs["q"], inputs["k"]))
    return {"y": scores @ inputs["v"]}
