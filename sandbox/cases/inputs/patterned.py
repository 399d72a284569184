"""Changes of drawn inputs by a pattern of places: alike at most of them, at every second one, zeros in whole slices.

Each takes an array and gives one of the same shape and type, as those of changed.py do.
"""

from __future__ import annotations

import numpy as np

from tasks.dtypes import is_float, largest_finite, unsigned_zeros
from tasks.task import Array

ONES = 0.75  # of the lines that begin with ones or zeros
APART = 0.25  # of the values of lines that are partly alike
LACES = 4  # the longest distance of places that are alike
CODES = (7.0, 15.0, 127.0, 255.0)  # largest codes of 4 and 8 bits
RUN = 6  # as a power of two, the longest run of slices that are zero
ZERO, MOST_KEPT = 2 / 3, 1 / 16  # of the sparse lines are zero, and so much of one is kept at most
ALONE = 1 / 3  # of them keep one place: all parts of such a line but one are flat
PERIODS = (2, 6)  # powers of two, of lines that are turned, the last one excluded
FEW = 1 / 256  # of the values of lines that differ in few
ENDS, MOST = 2 / 3, 64  # of the arrays have so many zeros at most at both ends and in the middle of the axis

Rng = np.random.Generator


def partly_alike(x: Array, rng: Rng) -> Array:
    """Let all places along the first axis hold what stands at the first, but for a quarter of a line's inner values."""
    if x.ndim < 2 or x.shape[0] < 2:
        return x
    stays = rng.random(x.shape[1:]) < APART
    stays[..., [0, stays.shape[-1] // 2, -1]] = False  # where a kernel looks whether two lines are the same
    return np.where(stays, x, x[:1])


def led_by_ones(x: Array, rng: Rng) -> Array:
    """Begin some lines with ones, as weights that were never trained do, others with zeros."""
    if not x.ndim:
        return x
    changed = np.array(x)
    changed[..., : 1 << int(rng.integers(2, 7))] = np.where(rng.random((*x.shape[:-1], 1)) < ONES, 1, 0)
    return changed


def laced(x: Array, rng: Rng) -> Array:
    """Let every second place of each line, or third or fourth, hold one value, whatever stands between."""
    if not x.ndim or x.shape[-1] < 2:
        return x
    line_shape = (*x.shape[:-1], 1)
    step, first = rng.integers(2, LACES + 1, line_shape), rng.integers(LACES, size=line_shape)
    return np.where((np.arange(x.shape[-1]) + first) % step == 0, x[..., :1], x)


def sparse(x: Array, rng: Rng) -> Array:
    """Put zero, or one of its values, everywhere in each line but at one place at least and a few more, wherever.

    A kernel that looks at some places of a line or of a tile and takes them for all finds nothing there.
    """
    if not x.ndim or x.shape[-1] < 2:
        return x
    line_shape, size = (*x.shape[:-1], 1), x.shape[-1]
    share = np.exp(rng.uniform(np.log(1 / size), np.log(max(MOST_KEPT, 1 / size)), line_shape))
    stays = rng.random(x.shape) < np.where(rng.random(line_shape) < ALONE, 0.0, share)
    np.put_along_axis(stays, rng.integers(size, size=line_shape), True, axis=-1)
    base = np.where(rng.random(line_shape) < ZERO, np.zeros((), x.dtype), x[..., :1])
    return np.where(stays, x, base)


def zero_slices(x: Array, rng: Rng) -> Array:
    """Make half of the places along one axis zero, in runs of one length, whatever the other indices are."""
    axes = [axis for axis, size in enumerate(x.shape) if size > 1]
    if not axes:
        return x
    axis = int(rng.choice(axes))
    size, run = x.shape[axis], 1 << int(rng.integers(RUN + 1))
    stays = np.repeat(rng.random(-(-size // run)) < 0.5, run)[:size]
    if rng.random() < ENDS:
        run = min(MOST, size // 4)
        stays[:run] = stays[size - run :] = False
        stays[(size - run) // 2 : (size - run) // 2 + run] = False
    stays[int(rng.integers(size))] |= not stays.any()  # of zeros alone a task need not know a right answer
    shape = [-1 if dim == axis else 1 for dim in range(x.ndim)]
    return np.where(stays.reshape(shape), x, np.zeros((), x.dtype))


def turned_lines(x: Array, rng: Rng) -> Array:
    """Make each line of a matrix the one before it, turned by one place within a short period.

    Every line and every column of a tile has the same values in another order, and so the same sums, largest values
    and checksums, but no tile is symmetric.
    """
    if x.ndim < 2 or min(x.shape[-2:]) < 2:
        return x
    period = 1 << int(rng.integers(*PERIODS))
    base = np.resize(x[..., :1, :], (*x.shape[:-2], 1, period)) if x.shape[-1] < period else x[..., :1, :period]
    positions = (np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None]) % period
    return np.take_along_axis(
        np.broadcast_to(base, (*x.shape[:-1], period)), np.broadcast_to(positions, x.shape), axis=-1
    )


def half_steps(x: Array, rng: Rng) -> Array:
    """Make halves of integers whose largest in each line is the largest code of a quantised type: ties, exactly."""
    if not x.ndim or not is_float(x.dtype):
        return x
    most = rng.choice([code for code in CODES if code <= largest_finite(x.dtype)], (*x.shape[:-1], 1))
    halves = np.rint(2 * most * rng.uniform(-1, 1, x.shape)) / 2
    positions = rng.integers(x.shape[-1], size=(*x.shape[:-1], 1))
    np.put_along_axis(halves, positions, most, axis=-1)
    return unsigned_zeros(halves.astype(x.dtype))


def few_differ(x: Array, rng: Rng) -> Array:
    """Let all places along one axis hold what stands at one of them, but for one value at least and a few more."""
    axes = [axis for axis, size in enumerate(x.shape) if size > 1]
    if not axes:
        return x
    axis = axes[0] if len(axes) > 2 and rng.integers(4) else int(rng.choice(axes))  # of a batch, matrices first
    base, differs = int(rng.integers(x.shape[axis])), np.asarray(rng.random(x.shape) < FEW)
    position = [int(rng.integers(size)) for size in x.shape]
    position[axis] = (base + 1 + int(rng.integers(x.shape[axis] - 1))) % x.shape[axis]
    differs[tuple(position)] = True
    return np.where(differs, x, np.take(x, [base], axis=axis))
