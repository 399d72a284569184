"""The outputs of a batch against its references, all cases at once: which of them need the whole comparison.

Whatever passes here is within the limits of the largest error and of the gate of every element. The two other measures
of an output's errors are left to the cases that are compared alone: a sweep looks for what is wrong, not for what is a
little inexact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sandbox.gpu.batch import BatchRow
from sandbox.gpu.memory_file import Raw
from sandbox.gpu.references import References
from tasks.dtypes import Array, is_float, largest_finite, numpy_dtype, smallest_normal, spacing_at, to_float64
from tasks.tensor import TensorSpec
from tasks.tolerance import Tolerance

Flags = npt.NDArray[np.bool_]


def suspects(references: References, rows: Sequence[BatchRow], outputs: Sequence[Mapping[str, Raw]]) -> list[int]:
    """The numbers of the cases that may be wrong, in their order."""
    if references.task.check is not None:
        return list(range(len(rows)))
    doubtful = np.zeros(len(rows), bool)
    for family in dict.fromkeys(row.swept.family for row in rows):
        mine = [number for number, row in enumerate(rows) if row.swept.family == family]
        for spec in references.task.outputs:
            tolerance = references.families.tolerance(spec, family)
            got = [outputs[number][spec.name] for number in mine]
            doubtful[mine] |= _beyond(spec, tolerance, [rows[number] for number in mine], got)
    return [int(number) for number in np.flatnonzero(doubtful)]


def _beyond(spec: TensorSpec, tolerance: Tolerance, rows: Sequence[BatchRow], got: Sequence[Raw]) -> Flags:
    """For each case whether one of its elements is further off than it may be, or is no number."""
    dtype = numpy_dtype(spec.dtype)
    sizes = np.array([one.size // dtype.itemsize for one in got])
    if tolerance.row_rtol or tolerance.matched < 1 or not sizes.all():
        return np.ones(len(rows), bool)
    want, base = (_flat(spec, [of[spec.name] for of in answers]) for answers in _answers(rows))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(to_float64(np.concatenate(got).view(dtype)) - want)
        size, own = np.abs(want), np.abs(base - want)
        largest, most, standard = (np.maximum.reduceat(each, starts) for each in (error, size, own))
        limit = tolerance.ratio * standard + _floor(most, dtype, tolerance)
        is_within = (largest <= limit) & (most <= largest_finite(dtype))
        if tolerance.rtol is not None:
            gate = error <= tolerance.atol + tolerance.least + tolerance.rtol * size
            is_within &= np.logical_and.reduceat(gate, starts)
    return np.asarray(~is_within)


def _answers(rows: Sequence[BatchRow]) -> tuple[list[Mapping[str, Array]], list[Mapping[str, Array]]]:
    return [row.answers.wanted for row in rows], [row.answers.standard for row in rows]


def _flat(spec: TensorSpec, arrays: Sequence[Array]) -> Array:
    return np.concatenate([to_float64(spec.flatten(np.asarray(one))) for one in arrays])


def _floor(most: Array, dtype: np.dtype[np.generic], tolerance: Tolerance) -> Array:
    """As `floor_of`, for many cases at once."""
    if not is_float(dtype):
        return np.zeros_like(most)
    units = tolerance.units if dtype.itemsize >= 4 else 0.5
    held = np.clip(np.nan_to_num(most), smallest_normal(dtype), largest_finite(dtype))
    return np.asarray(tolerance.least + units * spacing_at(1.0, dtype) * 2.0 ** np.floor(np.log2(held)))
