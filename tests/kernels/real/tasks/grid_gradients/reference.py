"""Gradients of a hashed grid."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    return {
        "grad": rng.standard_normal((4, n, 2), dtype=np.float32),
        "p": rng.random((n, 3), dtype=np.float32),
        "starts": np.arange(0, 1025, 256, dtype=np.int32),
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
    p, grad = inputs["p"], inputs["grad"]
    y = np.zeros((1024, 2), grad.dtype)
    for level in range(4):
        scale = 4 * 2**level - 1
        place = p * scale + p.dtype.type(0.5)
        cell = np.floor(place)
        part = place - cell
        for corner in np.ndindex(2, 2, 2):
            weight = np.where(np.array(corner) == 1, part, 1 - part).prod(axis=1)
            index = _index(cell.astype(np.uint32) + np.array(corner, np.uint32), scale + 2)
            np.add.at(y, 256 * level + index, weight[:, None] * grad[level])
    return {"y": y}


def _index(corner: Array, side: int) -> Array:
    """The entry of a corner: its number while strides fit the table, a hash otherwise."""
    stride, index = 1, np.zeros(len(corner), np.uint32)
    for axis in range(3):
        if stride > 256:
            break
        index += corner[:, axis] * np.uint32(stride)
        stride *= side
    if stride > 256:
        primes = np.array([1, 2654435761, 805459861], np.uint32)
        index = np.bitwise_xor.reduce(corner * primes, axis=1)
    return index % np.uint32(256)
