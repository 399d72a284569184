"""Matrix-vector products of a batch."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    batch, m, k = (case.dims[n] for n in ("batch", "m", "k"))
    return {
        "a": rng.standard_normal((batch, m, k), dtype=np.float32),
        "x": rng.standard_normal((batch, k), dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": np.einsum("bik,bk->bi", inputs["a"].astype(np.float64), inputs["x"].astype(np.float64))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one term after the other."""
    terms = inputs["a"] * inputs["x"][:, None, :]
    return {"y": np.add.accumulate(terms, axis=2, dtype=np.float32)[..., -1]}
