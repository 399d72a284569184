"""Rows in 8 bits about a zero point."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {
        "x": 3 * rng.standard_normal((case.dims["rows"], 256), dtype=np.float32),
        "scale": np.array([0.03125], np.float32),
        "zero": np.array([7], np.int32),
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
    x, scale = inputs["x"], inputs["scale"]
    return {"y": np.clip(np.rint(x * (1 / scale)) + inputs["zero"], -128, 127).astype(np.int8)}
