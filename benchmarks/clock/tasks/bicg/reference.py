"""The two products of a step of the biconjugate gradient method."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    n = case.dims["n"]
    return {
        "a": rng.standard_normal((n, n), dtype=np.float32),
        "p": rng.standard_normal(n, dtype=np.float32),
        "r": rng.standard_normal(n, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    a, p, r = (inputs[name].astype(np.float64) for name in ("a", "p", "r"))
    return {"q": a @ p, "s": r @ a}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, one term after the other as the kernels add."""
    q, s = np.zeros_like(inputs["p"]), np.zeros_like(inputs["r"])
    for i in range(case.dims["n"]):
        q += inputs["a"][:, i] * inputs["p"][i]
        s += inputs["a"][i] * inputs["r"][i]
    return {"q": q, "s": s}
