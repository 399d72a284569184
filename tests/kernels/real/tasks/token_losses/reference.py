"""Cross entropy of probabilities."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Positive numbers and tokens."""
    b, t = case.dims["b"], case.dims["t"]
    return {
        "p": rng.random((b, t, 100), dtype=np.float32) + np.float32(0.01),
        "tokens": rng.integers(0, 100, (b, t)).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    found = np.take_along_axis(inputs["p"], inputs["tokens"][:, :, None].astype(np.int64), axis=2)
    return {"y": -np.log(found[:, :, 0])}
