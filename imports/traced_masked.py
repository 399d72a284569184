"""The elements that a mask chooses, while operations are written down: all of them, and the mask beside.

`y[y < 0] *= 0.01` has as many elements as the mask has truths; written as a choice for every element it has the shape
of the whole. In the import's own process only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from imports.traced_array import VALUES, NotFollowed, TracedArray
from imports.traced_elements import BINARY, LOGICAL, UNARY

ELEMENTWISE = {*BINARY, *UNARY, *LOGICAL, "power", "square", "clip", "floor_divide", "logical_not", "where"}


class TracedMasked(np.lib.mixins.NDArrayOperatorsMixin):
    """The elements of `whole` at which `mask`, of the same shape, is true."""

    def __init__(self, whole: TracedArray, mask: TracedArray) -> None:
        """Both are values of one tape."""
        self.whole, self.mask = whole, mask

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.whole.dtype

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a function of single elements to all, for the same mask."""
        target = options.pop("out", (None,))[0]
        name = ufunc.__name__
        if method != "__call__" or name not in ELEMENTWISE:
            raise NotFollowed(f"{VALUES}: it takes as many elements as a mask has")
        result = self.called(name, inputs, options)
        if isinstance(target, TracedMasked):
            target.whole = result.whole
            return target
        return result

    def called(self, name: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> TracedMasked:
        """Apply a function by its name."""
        operands = [self._whole_of(value) for value in inputs]
        return TracedMasked(self.whole.numpy.called(name, operands, dict(options)), self.mask)

    def _whole_of(self, value: Any) -> Any:
        if isinstance(value, TracedMasked):
            if value.mask.name != self.mask.name:
                raise NotFollowed(f"{VALUES}: it takes elements by two masks together")
            return value.whole
        if isinstance(value, TracedArray) and value.ndim:
            raise NotFollowed(f"{VALUES}: it takes as many elements as a mask has")
        return value

    def sum(self) -> Any:
        """Add them up."""
        numpy = self.whole.numpy
        zero = 0.0 if self.dtype.kind == "f" else 0
        return numpy.called("sum", (numpy.called("where", (self.mask, self.whole, zero), {}),), {})

    def mean(self) -> Any:
        """Divide their sum by their number."""
        numpy = self.whole.numpy
        return numpy.called("divide", (self.sum(), numpy.called("sum", (self.mask,), {})), {})

    def astype(self, dtype: Any) -> TracedMasked:
        """Convert them to another type."""
        return TracedMasked(self.whole.numpy.cast(self.whole, dtype), self.mask)
