"""A product with permuted weights of four bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    steps, wide = d["steps"], d["wide"]
    return {
        "x": rng.standard_normal((d["m"], 128 * steps)).astype(np.float16),
        "q": rng.integers(-(2**31), 2**31, (16 * steps, 512 * wide), dtype=np.int32),
        "s": rng.integers(-(2**31), 2**31, (4 * steps, 64 * wide), dtype=np.int32),
        "top": rng.uniform(0.00001, 0.0001, 4 * steps).astype(np.float16),
        "perm": rng.permutation(128 * steps).astype(np.int16),
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
    q = _values(inputs["q"], (0, 16, 4, 20, 8, 24, 12, 28)).swapaxes(1, 2)
    q = q.reshape(-1, q.shape[2])
    s = _values(inputs["s"], range(0, 32, 4)).reshape(len(inputs["s"]), -1) + 1
    scale = inputs["top"].astype(np.float64)[:, None] * s * s
    w = np.repeat(scale, 32, axis=0) * (q - 8)
    x = inputs["x"].astype(np.float64)[:, inputs["perm"].view(np.uint16)]
    return {"y": (x @ w).astype(inputs["x"].dtype)}


def _values(words: Array, bits: Sequence[int]) -> Array:
    """The values of four bits of each word, from these bits on, in a last axis."""
    return (words.view(np.uint32)[..., None] >> np.array(bits, np.uint32) & np.uint32(15)).astype(np.int64)
