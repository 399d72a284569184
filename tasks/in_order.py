"""The standard implementation with sums from the first element to the last, as a naive kernel adds them.

NumPy adds in pairs, so its sum of equal values is nearly exact; a loop's error grows with each step, and a mean that is
taken from the values then leaves that error. Where values hardly differ the error is all that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tasks.dtypes import Array

Function = Callable[[Any, Any], dict[str, Array]]


class InOrder(np.ndarray[Any, np.dtype[Any]]):
    """An array whose sums and means are taken in order; all that is computed with it is one too."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply the ufunc to plain arrays, but a sum in order."""
        plain = [_plain(x) for x in inputs]
        if options.get("out"):
            options["out"] = tuple(_plain(x) for x in options["out"])
        if ufunc is np.add and method == "reduce":
            output = _summed(plain[0], **options)
        else:
            output = getattr(ufunc, method)(*plain, **options)
        return tuple(map(_as_in_order, output)) if isinstance(output, tuple) else _as_in_order(output)


def in_order(baseline: Function) -> Function:
    """Return the same function with all sums of floating numbers in order."""

    def summed_in_order(inputs: Any, case: Any) -> dict[str, Array]:
        outputs = baseline({name: _as_in_order(x) for name, x in inputs.items()}, case)
        return {name: _plain(x) for name, x in outputs.items()}

    return summed_in_order


def _summed(x: Array, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **options: Any) -> Any:
    is_plain = options.get("where", True) is True and options.get("initial") is None
    if not is_plain or not x.size or np.dtype(dtype or x.dtype).kind != "f":
        return np.add.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims, **options)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(sorted(dim % x.ndim for dim in axes))
    moved = np.moveaxis(x, axes, range(-len(axes), 0))
    rows = moved.reshape(*moved.shape[: moved.ndim - len(axes)], -1)
    total = np.add.accumulate(rows, axis=-1, dtype=dtype)[..., -1]
    total = np.expand_dims(total, axes) if keepdims else total
    (into,) = options.get("out") or (None,)
    if into is None:
        return total
    into[...] = total
    return into


def _as_in_order(x: Any) -> Any:
    is_float = isinstance(x, np.ndarray | np.generic) and x.dtype.kind == "f"
    return np.asarray(x).view(InOrder) if is_float else x


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, InOrder) else x
