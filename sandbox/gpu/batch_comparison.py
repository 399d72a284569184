"""The outputs of a batch against its references, all cases at once: which of them need the whole comparison.

Whatever passes here is within the limits of the largest error and of the gate of every element. The two other measures
of an output's errors are left to the cases that are compared alone: a sweep looks for what is wrong, not for what is a
little inexact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from sandbox.cases.inputs.families import InputFamilies
from sandbox.gpu.batch import Batch
from sandbox.gpu.memory_file import Raw
from tasks.dtypes import Array, is_float, largest_finite, numpy_dtype, smallest_normal, spacing_at, to_float64
from tasks.tensor import TensorSpec
from tasks.tolerance import Tolerance
from tasks.yardstick import Yardstick

CHECKED = 4  # cases of a batch whose task has a check of its own: it takes inputs, which are drawn again for it

Flags = npt.NDArray[np.bool_]


def suspects(families: InputFamilies, batch: Batch, outputs: Raw) -> list[int]:
    """List the numbers of the cases that may be wrong, in their order."""
    task = families.task
    doubtful, offset, byte = np.zeros(len(batch.rows), bool), 0, 0
    for spec, elements in zip(task.outputs, batch.elements, strict=True):
        dtype, count = numpy_dtype(spec.dtype), sum(elements)
        want, base = batch.answers[offset : offset + count], batch.answers[offset + count : offset + 2 * count]
        computed = outputs[byte : byte + count * dtype.itemsize].view(dtype)
        tolerance_of = {name: families.tolerance(spec, name) for name in {row.family for row in batch.rows}}
        tolerances = [tolerance_of[row.family] for row in batch.rows]
        if all(elements) and not any(tolerance.row_rtol or tolerance.matched < 1 for tolerance in tolerances):
            doubtful |= _beyond(dtype, tolerances, np.array(elements), to_float64(computed), want, base)
        else:
            shapes = [task.shape_of(spec, row.case) for row in batch.rows]
            doubtful |= _each_beyond(spec, tolerances, shapes, computed, want, base)
        offset, byte = offset + 2 * count, byte + count * dtype.itemsize
    if task.check is not None:
        doubtful[:CHECKED] = True
    return [int(number) for number in np.flatnonzero(doubtful)]


def _each_beyond(
    spec: TensorSpec,
    tolerances: Sequence[Tolerance],
    shapes: Sequence[tuple[int, ...]],
    computed: Array,
    want: Array,
    base: Array,
) -> Flags:
    """Tell of each case whether it is wrong by the whole comparison, where a gate differs from element to element."""
    is_wrong, offset = np.zeros(len(shapes), bool), 0
    for number, (shape, tolerance) in enumerate(zip(shapes, tolerances, strict=True)):
        part = slice(offset, offset + prod(shape))
        exact, standard, mine = (spec.unflatten(flat[part], shape) for flat in (want, base, computed))
        is_wrong[number] = not Yardstick(exact, standard, numpy_dtype(spec.dtype), tolerance).judge(mine).correct
        offset = part.stop
    return is_wrong


def _beyond(
    dtype: np.dtype[np.generic],
    tolerances: Sequence[Tolerance],
    sizes: Array,
    computed: Array,
    want: Array,
    base: Array,
) -> Flags:
    """Tell of each case whether one of its elements is further off than it may be, or is no number."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ratio, atol, rtol = (
        np.array(values, np.float64)
        for values in zip(*((t.ratio, t.atol + t.least, _gate(t)) for t in tolerances), strict=True)
    )
    with np.errstate(over="ignore", invalid="ignore"):
        error, size = np.abs(computed - want), np.abs(want)
        largest, most, baseline_error = (
            np.maximum.reduceat(magnitudes, starts) for magnitudes in (error, size, np.abs(base - want))
        )
        is_within = (largest <= ratio * baseline_error + _floors(most, dtype, tolerances)) & (
            most <= largest_finite(dtype)
        )
        if np.isfinite(rtol).any():
            gate = error <= np.repeat(atol, sizes) + np.repeat(rtol, sizes) * size
            is_within &= np.logical_and.reduceat(gate, starts) | ~np.isfinite(rtol)
    return np.asarray(~is_within)


def _gate(tolerance: Tolerance) -> float:
    return np.inf if tolerance.rtol is None else tolerance.rtol


def _floors(most: Array, dtype: np.dtype[np.generic], tolerances: Sequence[Tolerance]) -> Array:
    """Compute `floor_of` the largest magnitude for many cases at once."""
    if not is_float(dtype):
        return np.zeros_like(most)
    units = np.array([tolerance.units if dtype.itemsize >= 4 else 0.5 for tolerance in tolerances])
    least = np.array([tolerance.least for tolerance in tolerances])
    clipped = np.clip(np.nan_to_num(most), smallest_normal(dtype), largest_finite(dtype))
    return np.asarray(least + units * spacing_at(1.0, dtype) * 2.0 ** np.floor(np.log2(clipped)))
