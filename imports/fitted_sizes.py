"""Numbers of an operation that were seen under several sets of constants, as expressions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imports.fitting import Fitting
from imports.graph import Number, Ref
from imports.refusal import ImportUnfitted


@dataclass(frozen=True)
class Sizes:
    """Sizes that were seen under several sets of constants, as expressions."""

    fitting: Fitting

    def shape(self, shapes: Sequence[Sequence[int]]) -> tuple[Any, ...]:
        """Return the extents of a value."""
        if len({len(s) for s in shapes}) > 1:
            raise ImportUnfitted("the number of axes of a value of it changes with its sizes")
        return tuple(self.integer([s[axis] for s in shapes]) for axis in range(len(shapes[0])))

    def integer(self, values: Sequence[int]) -> Any:
        """Write a whole number over the dims; ImportRefused where it follows from them in no simple way."""
        size = self.fitting.integer([int(v) for v in values])
        if size is None:
            raise ImportUnfitted(
                f"a size of it follows from the sizes of its inputs in no simple way: {list(values)[:4]}", values
            )
        return size

    def merged(self, values: Sequence[Any]) -> Any:
        """Write an argument: a value's name, a number, a list of them, or what else is the same in all."""
        first = values[0]
        if isinstance(first, (list, tuple)):
            if len({len(v) for v in values}) > 1:
                raise ImportUnfitted("its operations take more values at some sizes than at others")
            return [self.merged([v[i] for v in values]) for i in range(len(first))]
        if isinstance(first, (bool, str, Ref)) or first is None:
            if any(v != first for v in values):
                raise ImportUnfitted("its operations change with its sizes, so one graph cannot stand for all")
            return first
        if isinstance(first, int):
            size = self.integer(values)
            return Number(size) if isinstance(size, str) else size
        real = self.fitting.real(values)
        if real is None:
            if len(set(values)) > 1 and not any(math.isnan(v) for v in values):
                raise ImportUnfitted(
                    f"a number of it follows from the sizes in no simple way: {list(values)[:4]}", values
                )
            return first
        return Number(real, True) if isinstance(real, str) else real
