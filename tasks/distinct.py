"""Distinct values of an array."""

from __future__ import annotations

import numpy as np

from tasks.dtypes import Array


def distinct(values: Array, axis: int | None = None) -> Array:
    """Return the distinct values, or rows with `axis` 0, in order; `np.unique` alone loads masked arrays: 20 ms."""
    unique: Array = np.unique(values, return_index=True, axis=axis)[0]
    return unique
