"""An input or an output of a task, and its elements in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.dtypes import Array, is_float
from tasks.tolerance import Tolerance


@dataclass(frozen=True)
class TensorSpec:
    """An input or output: shape is a tuple of expressions over the case's dims; the empty one is a single number."""

    name: str
    dtype: str  # one of DTYPES
    shape: tuple[str, ...]
    layout: Literal["row_major", "column_major"] = "row_major"
    strides: tuple[str, ...] = ()  # of an input, in elements, where its memory is not dense; expressions over the dims
    optional: bool = False  # an input that a case may leave out: kernels get a null pointer for it
    initial: str = ""  # the input whose values an output holds before the launch: kernels update it in place
    tolerance: Tolerance | None = None  # of an output, in place of the task's
    ties: Literal["either", "stated"] = "either"  # of an output: how its exact ties may be rounded
    parameter: str = ""  # of an input that is a weight: its name in the module it comes from
    structure: str = ""  # of an input's last two axes: one of STRUCTURES, which kernels may rely on
    initialiser: str = ""  # the law that a weight is drawn by there, in words

    def flatten(self, array: Array, strides: tuple[int, ...] = ()) -> Array:
        """Give the array in the order of its memory, one dimension; with strides, what lies between holds no number."""
        if not strides:
            return np.ravel(array, order="F" if self.layout == "column_major" else "C")
        memory = np.empty(extent(array.shape, strides), array.dtype)
        memory.view(np.uint8)[:] = 0x7F
        if is_float(array.dtype) or array.dtype == np.bool_:
            memory[:] = np.nan  # true, in the type that holds no NaN
        _strided(memory, array.shape, strides)[...] = array
        return memory

    def unflatten(self, flat: Array, shape: tuple[int, ...], strides: tuple[int, ...] = ()) -> Array:
        """Return flat memory as an array of this shape."""
        if not strides:
            return flat.reshape(shape, order="F" if self.layout == "column_major" else "C")
        return _strided(flat, shape, strides).copy()


def extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Count the elements from the first to the last of a strided array."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))


def _strided(memory: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    steps = tuple(step * memory.itemsize for step in strides)
    return np.lib.stride_tricks.as_strided(memory, shape, steps)
