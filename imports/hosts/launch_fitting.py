"""Numbers of launches that were seen at several sizes, as expressions of a launch plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from imports.fitting import Fitting

POWERS = tuple(1 << n for n in range(1, 21))
Column = tuple[str, tuple[int, ...]]


class LaunchFitting:
    """Finds the expression of a number over the dims; `steps` are whole numbers that it may be divided by."""

    def __init__(self, configs: Sequence[Mapping[str, int]], steps: Sequence[int]) -> None:
        """All configs have the same names."""
        self._configs = configs
        self._fitting = Fitting(configs)
        self._steps = tuple(dict.fromkeys([*(s for s in steps if s > 1), *POWERS]))
        self._known: dict[tuple[int, ...], str | None] = {}
        self._columns = list(self._listed())

    def integer(self, values: Sequence[int]) -> str | None:
        """Fit a whole number; a text of digits where it is always the same, None where there is no expression."""
        key = tuple(values)
        if len(set(key)) == 1:
            return str(key[0])
        if key not in self._known:
            text = self._known[key] = next(self._candidates(key), None)
            if text is not None and text not in {t for t, _ in self._columns} and min(key) > 0:
                self._columns += [(text, key), *self._in_steps(text, key)]  # what is launched goes by such numbers
        return self._known[key]

    def real(self, values: Sequence[float]) -> str | float | None:
        """Fit a real number likewise."""
        return self._fitting.real(values)

    def _listed(self) -> Iterator[Column]:
        """Yield dims, products of two and three of them, and these in steps."""
        dims = [(n, tuple(c[n] for c in self._configs)) for n in self._configs[0]] if self._configs else []
        products = list(dims)
        for count in (2, 3):
            for columns in itertools.combinations_with_replacement(dims, count):
                text = " * ".join(t for t, _ in columns)
                products.append((text, tuple(math.prod(row) for row in zip(*(v for _, v in columns), strict=True))))
        yield from products
        for text, column in products:
            if any(v != column[0] for v in column):
                yield from self._in_steps(text, column)
        for text, column in dims:
            if min(column) > 0:
                yield f"log2({text})", tuple(v.bit_length() - 1 for v in column)
                yield f"log2(2 * {text} - 1)", tuple((2 * v - 1).bit_length() - 1 for v in column)

    def _in_steps(self, text: str, column: tuple[int, ...]) -> Iterator[Column]:
        for step in self._steps:
            yield f"ceil_div({text}, {step})", tuple(-(-v // step) for v in column)
        for step in self._steps:
            body = text if text.isidentifier() else f"({text})"
            yield f"{body} // {step}", tuple(v // step for v in column)

    def _candidates(self, values: tuple[int, ...]) -> Iterator[str]:
        for text, column in self._columns:
            if column == values:
                yield text
        exact = self._fitting.integer(values)
        if isinstance(exact, str) and "//" not in exact:
            yield exact
        yield from self._scaled(values)
        yield from self._two(values)
        if isinstance(exact, str):
            yield exact
        yield from self._limited(values)

    def _scaled(self, values: tuple[int, ...]) -> Iterator[str]:
        """Yield a column times a number, plus a number."""
        for text, column in self._columns:
            pairs = [(c, v) for c, v in zip(column, values, strict=True)]
            first, other = pairs[0], next((p for p in pairs if p[0] != pairs[0][0]), None)
            if other is None:
                continue
            slope = Fraction(other[1] - first[1], other[0] - first[0])
            shift = first[1] - slope * first[0]
            if not slope or slope.denominator != 1 or shift.denominator != 1:
                continue
            if all(slope * c + shift == v for c, v in pairs):
                body = text if slope == 1 else f"{slope.numerator} * {text}"
                if "//" in text and slope != 1:
                    body = f"{slope.numerator} * ({text})"
                yield body if not shift else f"{body} {'+' if shift > 0 else '-'} {abs(shift)}"

    def _two(self, values: tuple[int, ...]) -> Iterator[str]:
        """Yield a product of two columns, times a number; or the sum of two."""
        useful = [(t, c) for t, c in self._columns if len(set(c)) > 1 and all(c)][:400]
        by_column = {c: t for t, c in reversed(useful)}
        for text, column in useful:
            if all(v % c == 0 for v, c in zip(values, column, strict=True)):
                tail = tuple(v // c for v, c in zip(values, column, strict=True))
                if tail in by_column:
                    yield f"({by_column[tail]}) * ({text})"
                for factor in (2, 3, 4, 8, 16, 32, 64):
                    part = tuple(r // factor for r in tail)
                    if all(r % factor == 0 for r in tail) and part in by_column:
                        yield f"{factor} * ({by_column[part]}) * ({text})"
        for text, column in useful:
            tail = tuple(v - c for v, c in zip(values, column, strict=True))
            if tail in by_column:
                yield f"{text} + {by_column[tail]}"

    def _limited(self, values: tuple[int, ...]) -> Iterator[str]:
        """Yield the lesser of a column and a number, or the greater."""
        for name, limit in (("min", max(values)), ("max", min(values))):
            for text, column in self._columns:
                if len(set(column)) > 2 and all(
                    (min if name == "min" else max)(c, limit) == v for c, v in zip(column, values, strict=True)
                ):
                    yield f"{name}({text}, {limit})"
