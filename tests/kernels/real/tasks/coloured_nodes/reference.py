"""Colours of nodes without one."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Half of the nodes have a colour."""
    n = case.dims["n"]
    return {
        "y0": np.where(rng.random(n) < 0.5, -1, rng.integers(0, n, n)).astype(np.int64),
        "p": rng.integers(0, 2, n).astype(np.float32),
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
    return {"y": np.where(inputs["y0"] < 0, inputs["p"].astype(np.int64) - 2, inputs["y0"])}
