"""Dropout by a seed."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

SEED = 123


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    return {"x": rng.standard_normal(case.dims["n"], dtype=np.float32)}


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
    x = inputs["x"]
    return {"y": np.where(_uniform(x.size) > 0.5, x / x.dtype.type(0.5), x.dtype.type(0))}


def _uniform(count: int) -> Array:
    """The first of the four words of Philox 4x32-10 for each number, as a float32 from 0 to 1."""
    low = np.uint64(0xFFFFFFFF)
    words = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    keys = [np.uint64(SEED), np.uint64(0)]
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        half = np.uint64(32)
        words = [second >> half ^ words[1] ^ keys[0], second & low, first >> half ^ words[3] ^ keys[1], first & low]
        keys = [keys[0] + np.uint64(0x9E3779B9) & low, keys[1] + np.uint64(0xBB67AE85) & low]
    signed = words[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
