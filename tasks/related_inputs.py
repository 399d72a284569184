"""Inputs in which values stand in a relation that a kernel may look for in a few places and take for granted elsewhere.

One magnitude, ones, a symmetric matrix, neighbours by one bit, tiles of the same values in another order, two inputs
alike: `relaxed` then puts what was drawn back at some places, so that what holds at most of them holds not at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tasks.dtypes import is_float, to_float64
from tasks.patterned_inputs import Rng
from tasks.task import Array, TensorSpec

MOST = 1 / 4  # of the values are put back at most
TILE = 6  # as a power of two, the longest tile
STEPS = 4  # neighbours of a value that ties consist of


def relaxed(made: Array, drawn: Array, rng: Rng) -> Array:
    """The values drawn at one place at least and a few more, wherever they lie; those made at all others."""
    if not drawn.size:
        return made
    share = np.exp(rng.uniform(np.log(1 / drawn.size), np.log(max(MOST, 1 / drawn.size))))
    back = rng.random(drawn.shape) < share
    back.flat[int(rng.integers(drawn.size))] = True
    return np.where(back, drawn, made)


def one_magnitude(x: Array, rng: Rng) -> Array:
    """In each line values of one size and of their own signs."""
    if not x.ndim or not is_float(x.dtype):
        return x
    return np.where(to_float64(x) < 0, -np.abs(x[..., :1]), np.abs(x[..., :1]))


def ones_or_zeros(x: Array, rng: Rng) -> Array:
    """All ones, or all zeros, as weights and shifts that were never trained are."""
    return np.full_like(x, int(rng.integers(2)))


def bit_neighbours(x: Array, rng: Rng) -> Array:
    """In each line values that differ by a few units of the last place."""
    if not x.ndim or not is_float(x.dtype) or x.itemsize not in (2, 4):
        return x
    bits = np.array(np.broadcast_to(x[..., :1], x.shape)).view(f"u{x.itemsize}")
    by = rng.integers(0, STEPS, x.shape).astype(bits.dtype)
    made: Array = (bits + by).view(x.dtype)
    return np.where(np.isfinite(to_float64(made)), made, x)


def symmetric(x: Array, rng: Rng) -> Array:
    """The two last axes of a square matrix may be exchanged."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return x
    return np.where(np.tri(x.shape[-1], dtype=bool), x, np.swapaxes(x, -1, -2))


def shuffled_tiles(x: Array, rng: Rng) -> Array:
    """Each tile along the last axis has the values of the first one, in an order of its own: sums are the same."""
    if not x.ndim or x.shape[-1] < 4:
        return x
    tile = 1 << int(rng.integers(1, TILE + 1))
    size = x.shape[-1]
    count = -(-size // tile)
    base = np.resize(x.reshape(-1, size)[0], tile)
    made = rng.permuted(np.broadcast_to(base, (x.size // size, count, tile)), axis=-1)
    return np.asarray(made.reshape(-1, count * tile)[:, :size].reshape(x.shape))


def alike(inputs: Mapping[str, Array], names: list[str], rng: Rng) -> dict[str, Array]:
    """Of two inputs of one shape and type, the second holds what the first does; nothing where there are none."""
    pairs = [(a, b) for a in names for b in names if a != b and _same(inputs[a], inputs[b])]
    if not pairs:
        return {}
    one, other = pairs[int(rng.integers(len(pairs)))]
    values = inputs[one].reshape(inputs[other].shape) if rng.integers(2) else np.array(inputs[one])
    return {other: values.reshape(inputs[other].shape)}


def _same(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and one.size == other.size and one.size > 0


def against(inputs: Mapping[str, Array], specs: list[TensorSpec], number: float, rng: Rng) -> dict[str, Array]:
    """Along a dim that two inputs share, some places of one are scaled by a number and of the other by its inverse."""
    pairs = [
        (a, b, dim)
        for a in specs
        for b in specs
        if a.name < b.name
        for dim in set(map(str, a.shape)) & set(map(str, b.shape))
        if is_float(inputs[a.name].dtype) and is_float(inputs[b.name].dtype)
    ]
    if not pairs:
        return {}
    pairs.sort(key=lambda pair: (pair[0].name, pair[1].name, pair[2]))
    one, other, dim = pairs[int(rng.integers(len(pairs)))]
    axes = [list(map(str, spec.shape)).index(dim) for spec in (one, other)]
    chosen = rng.random(inputs[one.name].shape[axes[0]]) < 0.5
    factor = np.where(chosen, abs(number) ** (1.0 if rng.integers(2) else 0.5), 1.0)
    made = dict[str, Array]()
    for spec, axis, by in ((one, axes[0], factor), (other, axes[1], 1 / factor)):
        x = inputs[spec.name]
        if x.shape[axis] != by.size:
            return {}
        with np.errstate(all="ignore"):
            scaled = (to_float64(x) * by.reshape([-1 if at == axis else 1 for at in range(x.ndim)])).astype(x.dtype)
        made[spec.name] = np.where(np.isfinite(to_float64(scaled)), scaled, x)
    return made
