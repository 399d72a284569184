"""Sizes of a graph compared over the cases of its task, in place of algebra on their expressions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from imports.graph import Size
from tasks.expressions import evaluate

Values = tuple[int, ...]  # of a size, one for each case


class CaseSizes:
    """Values of sizes in all cases; those that a kernel shall be fast for come first."""

    def __init__(self, benchmarks: Sequence[Mapping[str, int]], tests: Sequence[Mapping[str, int]]) -> None:
        self._cases = [*benchmarks, *tests]
        self._timed = len(benchmarks)
        self._values: dict[str, Values] = {}

    def of(self, size: Size) -> Values:
        """Return the values of one size."""
        text = str(size)
        if text not in self._values:
            self._values[text] = tuple(int(evaluate(text, case)) for case in self._cases)
        return self._values[text]

    def product(self, sizes: Iterable[Size]) -> Values:
        """Return the values of the product of some sizes."""
        rows = [self.of(s) for s in sizes]
        return tuple(math.prod(row[i] for row in rows) for i in range(len(self._cases)))

    def timed(self, sizes: Iterable[Size]) -> Values:
        """Return the values of a product in the cases that are timed."""
        return self.product(sizes)[: self._timed]

    def largest(self, sizes: Iterable[Size]) -> int:
        """Return the largest value of a product in any case."""
        return max(self.product(sizes))

    def typical(self, sizes: Iterable[Size]) -> int:
        """Return the product's largest value in the cases that are timed."""
        return max(self.timed(sizes))

    def are_equal(self, left: Iterable[Size], right: Iterable[Size]) -> bool:
        """Tell whether two products are equal in every case."""
        return self.product(left) == self.product(right)


@dataclass(frozen=True)
class Digit:
    """One index of an iteration: its text, its extent, and what it is a part of when a larger one was split."""

    text: str
    size: Size
    parent: str = ""  # the text of the digit that was split
    is_quotient: bool = False


def product_text(sizes: Sequence[Size]) -> str:
    """Write a product of sizes as an expression of a plan."""
    texts = [str(s) for s in sizes if str(s) != "1"]
    return " * ".join(t if t.isidentifier() or t.isdigit() else f"({t})" for t in texts) or "1"
