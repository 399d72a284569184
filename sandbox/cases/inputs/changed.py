"""Changes of drawn inputs: zeros, equal and nearly equal values, repeats, orders, outliers, ends of a type.

Each takes an array and gives one of the same shape and type; none knows a task. `MAKERS` names those of which whole
families are made (families.py); `planted` changes a few values of what the judge draws for itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from sandbox.cases.inputs.patterned import (
    Rng,
    few_differ,
    half_steps,
    laced,
    led_by_ones,
    partly_alike,
    sparse,
    turned_lines,
    zero_slices,
)
from tasks.dtypes import is_float, smallest_normal, to_float64, unsigned_zeros
from tasks.task import Array

PLANTED_SHARE = 3  # one in so many lines of an axis gets planted values
FROM_OTHERS = 4096  # elements of a row for each that may come from another row: fewer than the errors' percentile shows
LEAST = 1e-38  # about the least normal float32; what `extremes` holds lies on both sides of it
MOST = 1e38
AT_END = 1 / 3  # of the lines with an outlier have it last, where who works on pairs or tiles forgets the rest
FAR_OUT = (2.0**7, 2.0**16)  # times as large as drawn a far outlier is
DENORMAL = 1 / 16  # of the values
NEAR = 1 / 64  # of their size that values may be apart
BEYOND_HALF = 2.0**17  # times a value of the usual size: float16 ends below 2**16
BELOW_HALF = 2.0**-30  # float16's least is 2**-24
HARDLY = "near"  # the family of such values
EXCEPT = "few differ"  # the family of places that are alike but for
TIED = "half steps"  # the family for tasks that state how ties are rounded
TURN = 256  # a power of two, the largest stride of which values that belong together are put
TURNED = 0.25  # of the places that hold what stands elsewhere
WAVE, WAVES = 64, 16  # and multiples of a wave, which blocks are
KINDS = 4  # of lines: too large for float16, too small, and as drawn
FAR = 0.25  # of the lines hold nothing but values near the least

Make = Callable[[Array, Rng], Array]


def planted(x: Array, rng: Rng) -> Array:
    """Plant zeros, equal neighbours, a second largest and equal ends in some lines of each axis.

    No value leaves the range that its row has, and few of a row come from other rows: a row of parts that no draw of
    the task puts together has elements for whose errors the task's tolerance does not stand.
    """
    changed = np.array(x)
    along = next((axis for axis in reversed(range(x.ndim)) if x.shape[axis] > 1), None)
    if along is None:
        return changed
    low, high = (np.broadcast_to(of(axis=along, keepdims=True), x.shape) for of in (x.min, x.max))
    for axis, size in enumerate(changed.shape):
        if size > 1:
            most = x.size if axis == along else max(1, x.shape[along] // FROM_OTHERS)
            _plant(*(np.moveaxis(part, axis, -1) for part in (changed, low, high)), most=most, rng=rng)
    return changed


def _plant(lines: Array, low: Array, high: Array, *, most: int, rng: Rng) -> None:
    """Change at most so many lines, which lie along the last axis, in each way."""
    size, count = lines.shape[-1], int(np.prod(lines.shape[:-1]))
    number = max(1, count // PLANTED_SHARE // max(1, lines.ndim - 1))
    for change in (_zero, _tie, _second_largest, _ends):
        chosen = rng.choice(count, min(count, most, max(1, number // 4)), replace=False)
        rows = np.unravel_index(chosen, lines.shape[:-1]) if lines.ndim > 1 else ()
        old = lines[rows]
        new = np.array(old).reshape(-1, size)
        change(new, rng)
        proposed = np.reshape(new, old.shape)
        lines[rows] = np.where((proposed >= low[rows]) & (proposed <= high[rows]), proposed, old)


def _zero(rows: Array, rng: Rng) -> None:
    indices = np.arange(len(rows))
    for _ in range(2):
        rows[indices, rng.integers(rows.shape[1], size=len(rows))] = 0


def _tie(rows: Array, rng: Rng) -> None:
    columns, indices = rng.integers(rows.shape[1] - 1, size=len(rows)), np.arange(len(rows))
    rows[indices, columns + 1] = rows[indices, columns]


def _second_largest(rows: Array, rng: Rng) -> None:
    indices = np.arange(len(rows))
    rows[indices, rng.integers(rows.shape[1], size=len(rows))] = rows[indices, rows.argmax(axis=1)]


def _ends(rows: Array, rng: Rng) -> None:
    rows[:, -1] = rows[:, 0]


def _zeros(x: Array, rng: Rng) -> Array:
    return np.where(rng.random(x.shape) < 0.5, np.zeros((), x.dtype), x)


def _denormal(x: Array, rng: Rng) -> Array:
    """Put some values of either sign below the least that has the type's full precision."""
    if not is_float(x.dtype):
        return x
    size = np.asarray(smallest_normal(x.dtype) / 4, x.dtype)
    least = np.where(rng.random(x.shape) < 0.5, size, -size)
    return np.where(rng.random(x.shape) < DENORMAL, least, x)


def _whole(x: Array, rng: Rng) -> Array:
    return unsigned_zeros(np.clip(np.rint(to_float64(x)), -8, 8).astype(x.dtype))


def _equal(x: Array, rng: Rng) -> Array:
    return np.array(np.broadcast_to(x[..., :1], x.shape)) if x.ndim else x


def _one_value(x: Array, rng: Rng) -> Array:
    return np.full_like(x, x.flat[int(rng.integers(x.size))])


def _sorted(x: Array, rng: Rng) -> Array:
    """Sort each line ascending or descending."""
    if not x.ndim:
        return x
    order = np.argsort(to_float64(x), axis=-1)
    turned = rng.random((*x.shape[:-1], 1)) < 0.5
    return np.take_along_axis(x, np.where(turned, order[..., ::-1], order), axis=-1)


def _near(x: Array, rng: Rng) -> Array:
    """Make values of each line that hardly differ."""
    if not x.ndim:
        return x
    apart = 1 + rng.uniform(-NEAR, NEAR, x.shape)
    return np.asarray((to_float64(x[..., :1]) * apart).astype(x.dtype))


def _gathered(x: Array, rng: Rng) -> Array:
    """Order the values of each line so that the largest stand side by side, or apart by powers of two or waves.

    Whoever deals the places of a line to lanes, in turn or in parts, has one lane with all the largest ones.
    """
    if not x.ndim or x.shape[-1] < 2:
        return x
    positions = np.arange(x.shape[-1]) + int(rng.integers(x.shape[-1]))
    bits = TURN.bit_length() - 1
    turned = np.zeros_like(positions)
    for bit in range(bits):
        turned |= ((positions >> bit) & 1) << (bits - 1 - bit)
    beside, apart = np.argsort(positions % x.shape[-1], kind="stable"), np.argsort(turned, kind="stable")
    falling = np.take_along_axis(x, np.argsort(-to_float64(x), axis=-1), axis=-1)
    first, second = np.empty_like(x), np.empty_like(x)
    first[..., beside], second[..., apart] = falling, falling
    third = np.empty_like(x)
    stride = WAVE * rng.integers(1, WAVES + 1, (*x.shape[:-1], 1))
    dealt = np.argsort(positions % stride, axis=-1, kind="stable")
    np.put_along_axis(third, dealt, falling, axis=-1)
    line_numbers = np.arange(x.size // x.shape[-1]).reshape(*x.shape[:-1], 1) + int(rng.integers(3))
    return np.where(line_numbers % 3 == 0, first, np.where(line_numbers % 3 == 1, second, third))


def not_finite(x: Array, rng: Rng) -> Array:
    """Put infinities and what is no number among what was drawn."""
    kinds = rng.choice(np.array([np.inf, -np.inf, np.nan]), x.shape).astype(x.dtype)
    return np.where(rng.random(x.shape) < FAR, kinds, x)


def _permuted(x: Array, rng: Rng) -> Array:
    """Put the values of each line into another order."""
    return rng.permuted(x, axis=-1) if x.ndim else x


def _repeated(x: Array, rng: Rng) -> Array:
    """Let half of the places along one axis hold what stands at another, or its negative: rows, columns or values."""
    axes = [axis for axis, size in enumerate(x.shape) if size > 1]
    if not axes:
        return x
    axis = int(rng.choice(axes))
    indices = np.arange(x.shape[axis])
    moved = rng.random(indices.size) < 0.5
    repeated = np.take(x, np.where(moved, rng.permutation(indices), indices), axis=axis)
    if not is_float(x.dtype) or not (to_float64(x) < 0).any():
        return repeated
    turned = np.reshape(
        moved & (rng.random(indices.size) < TURNED), [-1 if dim == axis else 1 for dim in range(x.ndim)]
    )
    return np.where(turned, -repeated, repeated)


def _outliers(x: Array, rng: Rng) -> Array:
    """Make in each line one value 16 to 64 times as large as drawn: in every third the last one."""
    return _with_outlier(x, rng, 16, 64)


def _far_outliers(x: Array, rng: Rng) -> Array:
    """Make in each line one value up to 65,536 times as large as drawn."""
    return _with_outlier(x, rng, *FAR_OUT)


def _with_outlier(x: Array, rng: Rng, least: float, most: float) -> Array:
    if not x.ndim:
        return x
    changed, positions = np.array(x), rng.integers(x.shape[-1], size=(*x.shape[:-1], 1))
    positions = np.where(rng.random(positions.shape) < AT_END, x.shape[-1] - 1, positions)
    factor = np.exp(rng.uniform(math.log(least), math.log(most), positions.shape))
    larger = to_float64(np.take_along_axis(changed, positions, axis=-1)) * factor
    with np.errstate(over="ignore"):
        np.put_along_axis(changed, positions, larger.astype(x.dtype), axis=-1)
    return np.where(np.isfinite(to_float64(changed)), changed, x)


def _far_apart(x: Array, rng: Rng) -> Array:
    """Make some lines larger than float16 holds, others smaller; what the type does not hold stays as it was drawn.

    A single line is one or the other, so that nothing but such values is met.
    """
    if not x.ndim or not is_float(x.dtype):
        return x
    line_shape = (*x.shape[:-1], 1)
    kind = (rng.permutation(math.prod(line_shape)) + int(rng.integers(2))).reshape(line_shape) % KINDS
    factor = np.where(kind == 0, BEYOND_HALF * rng.uniform(1, 4, line_shape), np.where(kind == 1, BELOW_HALF, 1.0))
    with np.errstate(over="ignore"):
        scaled = (to_float64(x) * factor).astype(x.dtype)
    return unsigned_zeros(np.where(np.isfinite(to_float64(scaled)), scaled, x))


def peaked(factor: float) -> Make:
    """Make each line's largest value this many times as large, however much larger a draw of more elements may be."""
    return lambda x, rng: _peaked(x, factor)


def _peaked(x: Array, factor: float) -> Array:
    if not x.ndim:
        return x
    changed, size = np.array(x), np.abs(to_float64(x))
    positions = size.argmax(axis=-1)[..., None]
    peaks = factor * np.take_along_axis(size, positions, axis=-1)
    with np.errstate(over="ignore"):
        np.put_along_axis(changed, positions, peaks.astype(x.dtype), axis=-1)
    return changed


def _extremes(x: Array, rng: Rng) -> Array:
    """Put values at both ends of float32's range, denormal ones and zeros among what was drawn.

    Some lines lie far below, some hold nothing that is larger than a denormal number.
    """
    kinds = np.array([MOST, -MOST, LEAST, -LEAST, LEAST / 64, -LEAST / 64, 0.0])
    with np.errstate(over="ignore"):
        chosen = rng.choice(kinds, x.shape) * rng.uniform(1, 3, x.shape)
        share = rng.random((*x.shape[:-1], 1)) if x.ndim else np.full((), 0.5)
        is_far, is_least = share < FAR, share > 1 - FAR
        chosen = np.where(is_far, -MOST * rng.uniform(0.1, 3, x.shape), chosen)
        chosen = np.where(is_least, LEAST / 64 * rng.uniform(-3, 3, x.shape), chosen)
        extremes = unsigned_zeros(chosen.astype(x.dtype))
    return np.where(((rng.random(x.shape) < 0.5) | is_far | is_least) & np.isfinite(to_float64(extremes)), extremes, x)


MAKERS: Mapping[str, Make] = {
    "zeros": _zeros,
    "denormal": _denormal,
    "whole numbers": _whole,
    "equal rows": _equal,
    "one value": _one_value,
    "sorted": _sorted,
    "permuted": _permuted,
    HARDLY: _near,
    "gathered": _gathered,
    "repeats": _repeated,
    EXCEPT: few_differ,
    "partly alike": partly_alike,
    "led by ones": led_by_ones,
    "laced": laced,
    "sparse": sparse,
    "zero slices": zero_slices,
    "turned lines": turned_lines,
    "outliers": _outliers,
    "far outliers": _far_outliers,
    "far apart": _far_apart,
    "extremes": _extremes,
    TIED: half_steps,
    "not finite": not_finite,
}
OF_BYTES = frozenset(  # changes that leave what bytes stand for to whoever packed them
    {planted, *(MAKERS[n] for n in ("zeros", "equal rows", "one value", "permuted", "repeats", EXCEPT, "partly alike"))}
    | {laced, sparse, zero_slices, turned_lines}
)
HARDEST = {"outliers": 2.0**7, "far outliers": 2.0**17}  # times a line's largest value, which a task must bear for them
MOVED = frozenset({"extremes", "not finite"})  # for tasks that compute nothing; the last where they look at nothing
