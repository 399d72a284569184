"""Columns decoded from Gray code."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {name: rng.standard_normal((7, case.dims["n"]), dtype=np.float32) for name in "dv"}


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
    bits = inputs["d"] > inputs["v"]
    binary = np.logical_xor.accumulate(bits, axis=0)
    weights = 1 << np.arange(6, -1, -1)
    return {"y": (binary * weights[:, None]).sum(axis=0).astype(np.int32)}
