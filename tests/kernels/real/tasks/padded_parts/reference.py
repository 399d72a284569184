"""Parts of a list as padded rows."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n, b = case.dims["n"], case.dims["b"]
    first = np.sort(np.append(0, rng.integers(0, n + 1, b - 1)))
    return {"x": rng.standard_normal(n, dtype=np.float32), "first": first}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x, ends = inputs["x"], np.append(inputs["first"][1:], len(inputs["x"]))
    y = np.zeros((len(ends), len(x)), x.dtype)
    for row, start, end in zip(y, inputs["first"], ends, strict=True):
        row[: end - start] = x[start:end]
    return {"y": y}
