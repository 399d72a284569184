"""Weights of four bits, in AWQ's order."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Any numbers, and scales below 1."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    return {
        "q": rng.integers(-(2**31), 2**31, (rows, cols)).astype(np.int32),
        "s": rng.uniform(0.01, 1, (rows // 64, 8 * cols)).astype(np.float32),
        "z": rng.integers(-(2**31), 2**31, (rows // 64, cols)).astype(np.int32),
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
    q, s, z = _numbers(inputs["q"]), inputs["s"], _numbers(inputs["z"])
    return {"y": (q - np.repeat(z, 64, axis=0)) * np.repeat(s, 64, axis=0)}


def _numbers(words: Array) -> Array:
    """The eight numbers of each word, in their order."""
    parts = words[..., None] >> 4 * np.array([0, 4, 1, 5, 2, 6, 3, 7], np.int32) & 15
    return parts.reshape(words.shape[0], -1)
