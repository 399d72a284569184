"""A product with weights of four bits in groups."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    steps, wide = d["steps"], d["wide"]
    return {
        "x": rng.standard_normal((d["m"], 64 * steps)).astype(np.float16),
        "q": rng.integers(-(2**31), 2**31, (8 * steps, 32 * wide), dtype=np.int32),
        "scale": rng.uniform(0.001, 0.02, (steps, 32 * wide)).astype(np.float16),
        "zero": rng.integers(-(2**31), 2**31, (steps, 4 * wide), dtype=np.int32),
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
    q, zero = _nibbles(inputs["q"]).swapaxes(1, 2), _nibbles(inputs["zero"])
    q = q.reshape(-1, q.shape[2])
    zero = (zero.reshape(len(zero), -1) + 1) % 16
    x, scale = inputs["x"], inputs["scale"]
    y = np.zeros((len(x), scale.shape[1]), x.dtype)
    whole = (q - np.repeat(zero, 64, axis=0)).astype(x.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(0, x.shape[1], 8):
            y += scale[k // 64] * np.einsum("mk,kn->mn", x[:, k : k + 8], whole[k : k + 8])
    return {"y": y}


def _nibbles(words: Array) -> Array:
    """The eight values of four bits of each word, in a last axis."""
    return (words.view(np.uint32)[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & np.uint32(15)).astype(np.int64)
