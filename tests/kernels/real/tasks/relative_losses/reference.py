"""Relative squared errors and their gradients."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    return {
        "p": rng.standard_normal((n, 16), dtype=np.float32),
        "t": rng.standard_normal((n, case.dims["dims"]), dtype=np.float32),
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
    p, t = inputs["p"][:, : case.dims["dims"]], inputs["t"]
    scale = 1 / (p * p + p.dtype.type(0.01))
    v, g = np.zeros_like(inputs["p"]), np.zeros_like(inputs["p"])
    v[:, : t.shape[1]] = (p - t) ** 2 * scale / t.size
    g[:, : t.shape[1]] = 256 * (p - t) * scale / t.size
    return {"v": v, "g": g}
