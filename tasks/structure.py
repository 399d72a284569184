"""Structures of matrices that a task declares of an input: kernels may rely on them, and every draw keeps to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tasks.dtypes import Array


def mirrored(x: Array) -> Array:
    """Replace the lower triangle of the last two axes by the image of the upper one."""
    rows, cols = np.indices(x.shape[-2:])
    return np.where(rows > cols, np.swapaxes(x, -1, -2), x)


STRUCTURES: Mapping[str, Callable[[Array], Array]] = {
    "symmetric": mirrored,
    "upper_triangular": np.triu,
    "lower_triangular": np.tril,
}


def imposed(x: Array, structure: str) -> Array:
    """Return the nearest array of this structure in the place of any."""
    return STRUCTURES[structure](x) if structure else x


def has_structure(x: Array, structure: str) -> bool:
    """Tell whether an array keeps to a structure exactly."""
    return not structure or bool(np.array_equal(imposed(x, structure), x, equal_nan=x.dtype.kind == "f"))
