"""The error that every element of an output may have, whatever its own size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.dtypes import is_float
from tasks.task import Array
from tasks.tolerance import Tolerance

SHORT, SHORT_SHARE = 4, 2.0**-8  # of the usual row's slack that a row of fewer elements has: all may cancel by chance


@dataclass(frozen=True)
class Slack:
    """The error allowed for every element, whatever its own size; a row lies along the last axis.

    The sums behind an element are as large as its row's and its column's inputs make them. The row's root mean square
    shows the first only, so an element in a large column gets more: rows times columns over all, at least the row's.
    """

    atol: float
    rows: Array  # both have the output's shape, without memory of their own
    columns: Array

    @classmethod
    def of(cls, want: Array, tolerance: Tolerance) -> Slack:
        """Measure the slack of outputs around these right ones."""
        rows, columns = np.zeros(()), np.ones(())
        if tolerance.row_rtol and want.ndim:
            squares = np.square(np.where(np.isfinite(want), want, 0.0))
            rows = tolerance.row_rtol * np.sqrt(np.mean(squares, axis=-1, keepdims=True))
            if want.ndim > 1:
                if want.shape[-1] < SHORT and rows.any():
                    rows = np.maximum(rows, SHORT_SHARE * np.median(rows[rows > 0]))
                columns = np.mean(squares, axis=-2, keepdims=True)
                mean = np.mean(columns, axis=-1, keepdims=True)
                columns = np.sqrt(np.maximum(1.0, columns / np.where(mean > 0, mean, 1.0)))
        return cls(
            tolerance.atol + tolerance.least, np.broadcast_to(rows, want.shape), np.broadcast_to(columns, want.shape)
        )

    def part(self, part: Any) -> Array:
        """Return the slack of the elements at this index."""
        rows, columns = self.rows[part], self.columns[part]
        if rows.size and not any((*rows.strides, *columns.strides)):  # it is the same everywhere
            return np.broadcast_to(self.atol + rows.flat[0] * columns.flat[0], rows.shape)
        return np.asarray(self.atol + rows * columns)


def lost_in_rows(want: Array, finite: Array, dtype: np.dtype[Any], tolerance: Tolerance) -> Array:
    """Give so many units of the last place of each row's largest value, as float32 or wider; rows along the last axis.

    Integers lose nothing. What is narrower than float32 is summed in it.
    """
    if not is_float(dtype):
        return np.zeros(())
    wide = np.float64 if dtype.itemsize > 4 else np.float32
    largest = np.max(np.abs(want), axis=-1, keepdims=True, where=finite, initial=0.0)
    return np.asarray(tolerance.row_units * np.spacing(np.minimum(largest, np.finfo(wide).max).astype(wide)))
