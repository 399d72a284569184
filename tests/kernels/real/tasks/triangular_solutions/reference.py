"""Solutions of triangular systems."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Triangles with a strong diagonal."""
    d = case.dims
    a = np.tril(0.1 * rng.standard_normal((d["batches"], d["n"], d["n"]), dtype=np.float32))
    a[:, np.arange(d["n"]), np.arange(d["n"])] = rng.uniform(1, 2, (d["batches"], d["n"]))
    return {"a": a, "b": rng.standard_normal((d["batches"], d["n"], d["k"]), dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    a, b = inputs["a"], inputs["b"]
    x = np.zeros_like(b)
    for row in range(a.shape[1]):
        known = np.einsum("bj,bjk->bk", a[:, row, :row], x[:, :row])
        x[:, row] = (b[:, row] - known) / a[:, row, row, None]
    return {"x": x}
