"""The error that every element of an output may have, whatever its own size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.task import Array
from tasks.tolerance import Tolerance


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
        """The slack of outputs around these right ones."""
        rows, columns = np.zeros(()), np.ones(())
        if tolerance.row_rtol and want.ndim:
            squares = np.square(np.where(np.isfinite(want), want, 0.0))
            rows = tolerance.row_rtol * np.sqrt(np.mean(squares, axis=-1, keepdims=True))
            if want.ndim > 1:
                columns = np.mean(squares, axis=-2, keepdims=True)
                whole = np.mean(columns, axis=-1, keepdims=True)
                columns = np.sqrt(np.maximum(1.0, columns / np.where(whole > 0, whole, 1.0)))
        return cls(
            tolerance.atol + tolerance.least, np.broadcast_to(rows, want.shape), np.broadcast_to(columns, want.shape)
        )

    def part(self, part: Any) -> Array:
        """That of the elements at this index."""
        rows = self.rows[part]
        if not any(rows.strides):  # nothing of it depends on a row
            return np.broadcast_to(self.atol + rows.flat[0] if rows.size else self.atol, rows.shape)
        return np.asarray(self.atol + rows * self.columns[part])
