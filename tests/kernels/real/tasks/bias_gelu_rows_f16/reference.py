"""gelu of rows with a bias."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {
        "x": rng.standard_normal((case.dims["rows"], 64)).astype(np.float16),
        "b": rng.standard_normal(64).astype(np.float16),
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
    wide = np.float64 if inputs["x"].dtype == np.float64 else np.float32
    v = inputs["x"].astype(wide) + inputs["b"].astype(wide)
    y = v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))
    return {"y": y.astype(inputs["x"].dtype)}
