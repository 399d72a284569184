"""Lines that no kernel which computes has to bear, so that a search for rare wrong answers leaves them out.

Of values so large that float32 holds no square of any: a running maximum that begins at -1e30 is right where a line has
any usual value, and masks are such numbers. So among others they are tried; a line along any axis that has nothing else
is left as it was drawn.

Of values that hardly differ: what is left of them without their mean is rounding, which an epsilon's root makes 300
times as large. Two passes lose nothing there, and Welford's one pass does; both are right. General families have such
lines, with a tolerance of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tasks.dtypes import is_float, to_float64
from tasks.task import Array, Tensors

HELD = 2.0**64  # float32 holds no square of more
SPREAD = 2.0**-14  # of a line's largest value: float32 holds ten bits of values that lie so close


def with_held_lines(changed: Tensors, drawn: Tensors) -> Mapping[str, Array]:
    """Return inputs that were changed, without lines that hold nothing but such values."""
    return {name: x if x is drawn[name] else _with_held_lines(x, drawn[name]) for name, x in changed.items()}


def _with_held_lines(x: Array, drawn: Array) -> Array:
    if not is_float(x.dtype) or not (far := np.abs(to_float64(x)) > HELD).any():
        return x
    for axis in range(x.ndim):
        lost = far.all(axis=axis, keepdims=True)
        x, far = np.where(lost, drawn, x), far & ~lost
    return x


def has_alike_lines(inputs: Tensors, names: Iterable[str]) -> bool:
    """Tell whether values along the last axis hardly differ in one of these inputs, and are not zero."""
    return any(_has_alike_lines(inputs[name]) for name in names if name in inputs)


def _has_alike_lines(x: Array) -> bool:
    if not is_float(x.dtype) or not x.ndim or not x.size or x.shape[-1] < 2:
        return False
    values = to_float64(x)
    low, high = values.min(axis=-1), values.max(axis=-1)
    largest = np.maximum(np.abs(low), np.abs(high))
    return bool(((high - low <= SPREAD * largest) & (largest > 0)).any())
