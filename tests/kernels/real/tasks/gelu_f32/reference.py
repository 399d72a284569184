"""gelu of each element."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

MOST = np.float32(88.3762626647949)  # the kernel takes no value beyond


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": np.float32(0.8) * rng.standard_normal(case.dims["n"], dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = np.clip(inputs["x"], -MOST, MOST)
    return {"y": (x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2).astype(x.dtype)}
