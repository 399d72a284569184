"""Expressions over dims for numbers that were seen under several sets of dims."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from tasks.expressions import evaluate

MOST_FACTORS = 4
MOST_STEP, MOST_SHIFT = 24, 40
GROUPS = (16, 32, 64, 128, 256)  # of which there may be one that is not full
CLOSE = 1e-12
MOST_KNOWN = 12  # expressions found before that a product may take as a factor

SCALAR_FORMS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("1.0 * {}", lambda c: c),
    ("-1.0 * {}", lambda c: -c),
    ("1.0 - {}", lambda c: 1 - c),
    ("1.0 / {}", lambda c: 1 / c if c else math.inf),
)
Configs = Sequence[Mapping[str, int]]


class Fitting:
    """Finds the expression of a number; what was found before may be a part of what comes after."""

    def __init__(self, configs: Configs, scalars: Sequence[Mapping[str, float]] = ()) -> None:
        """`scalars` are real arguments under each of the configs."""
        self._configs = configs
        self._scalars = scalars
        self._known: dict[tuple[float, ...], str] = {}
        self._extents: dict[str, tuple[int, ...]] = {}  # expressions of axes that are no plain dims

    def of_first(self, count: int) -> Fitting:
        """Return the same over the first sets of dims alone, with what was found; what is one number there stays so."""
        fitting = Fitting(self._configs[:count], self._scalars[:count])
        fitting._known = {key[:count]: text for key, text in self._known.items()}
        fitting._extents = {text: values[:count] for text, values in self._extents.items()}
        return fitting

    def integer(self, values: Sequence[int]) -> str | int | None:
        """Fit an integer: the number itself where it is always the same, else its expression; None if there is none."""
        if len(set(values)) == 1:
            return values[0]
        key = tuple(float(v) for v in values)
        if key not in self._known:
            expression = next(self._candidates(values), None)
            if expression is None:
                return None
            self._known[key] = expression
            if any(sign in expression for sign in (" + ", " - ", " // ")):
                self._extents[expression] = tuple(values)
        return self._known[key]

    def real(self, values: Sequence[float]) -> str | float | None:
        """Fit a real number likewise: a quotient, a root or n / (n - 1) of an integer that has an expression."""
        if len(set(values)) == 1:
            return values[0]
        for name in self._scalars[0] if self._scalars else ():
            column = [scalars[name] for scalars in self._scalars]
            for form, ahead in SCALAR_FORMS:
                if all(_is_close(ahead(c), v) for c, v in zip(column, values, strict=True)):
                    return form.format(name)
        transforms: tuple[tuple[str, Callable[[float], float]], ...] = (
            ("float({})", lambda v: v),
            ("1.0 / ({})", lambda v: 1 / v),
            ("({}) ** 0.5", lambda v: v * v),
            ("({}) ** -0.5", lambda v: 1 / (v * v)),
            ("({}) ** 0.25", lambda v: v**4),
            ("({}) ** -0.25", lambda v: 1 / v**4),
            ("({0}) / (({0}) - 1.0)", lambda v: v / (v - 1)),
        )
        for form, back in transforms:
            try:
                integers = [round(back(v)) for v in values]
            except (ZeroDivisionError, OverflowError, ValueError):
                continue
            if all(n > 0 and abs(back(v) - n) <= 1e-6 * n for v, n in zip(values, integers, strict=True)):
                expression = self.integer(integers)
                if expression is not None:
                    return form.format(expression)
        return None

    def _candidates(self, values: Sequence[int]) -> Iterator[str]:
        yield from self._products(values)
        yield from self._affine(values)
        yield from self._steps(values)
        yield from self._products(values, with_known=True)

    def _columns(self, with_known: bool) -> dict[str, tuple[int, ...]]:
        columns = {name: tuple(config[name] for config in self._configs) for name in self._configs[0]}
        if with_known:
            columns.update(itertools.islice(self._extents.items(), MOST_KNOWN))
        return columns

    def _products(self, values: Sequence[int], with_known: bool = False) -> Iterator[str]:
        """Yield products of dims times a fraction."""
        columns = self._columns(with_known)
        for count in range(1, MOST_FACTORS + 1):
            for names in itertools.combinations_with_replacement(columns, count):
                products = [math.prod(columns[name][i] for name in names) for i in range(len(values))]
                ratios = {Fraction(v, p) for v, p in zip(values, products, strict=True)}
                if len(ratios) == 1:
                    yield self._scaled(" * ".join(_bracketed(name) for name in names), ratios.pop())

    @staticmethod
    def _scaled(text: str, ratio: Fraction) -> str:
        if ratio.numerator != 1:
            text = f"{ratio.numerator} * {text}"
        return f"{_bracketed(text)} // {ratio.denominator}" if ratio.denominator != 1 else text

    def _affine(self, values: Sequence[int]) -> Iterator[str]:
        """Yield a dim, or a sum or difference of two, times a number plus a number."""
        columns = self._columns(False)
        for name, column in columns.items():
            yield from _line(name, column, values)
        for first, second in itertools.combinations(columns, 2):
            sums = tuple(a + b for a, b in zip(columns[first], columns[second], strict=True))
            yield from _line(f"({first} + {second})", sums, values)
        for first, second in itertools.permutations(columns, 2):
            differences = tuple(a - b for a, b in zip(columns[first], columns[second], strict=True))
            yield from _line(f"({first} - {second})", differences, values)

    def _steps(self, values: Sequence[int]) -> Iterator[str]:
        """Places of a window that moves by whole steps: (dim + shift) // step + 1."""
        for name, column in self._columns(True).items():
            for step in range(2, MOST_STEP + 1):
                for shift in sorted(range(-MOST_SHIFT, MOST_SHIFT + 1), key=abs):
                    if all((c + shift) // step == v for c, v in zip(column, values, strict=True)):
                        moved = f"({name} {'+' if shift > 0 else '-'} {abs(shift)})" if shift else name
                        yield f"{moved} // {step}"
            for step in GROUPS:
                if all(-(-c // step) == v for c, v in zip(column, values, strict=True)):
                    yield f"({name} + {step - 1}) // {step}"


def _is_close(first: float, second: float) -> bool:
    return abs(first - second) <= CLOSE * max(abs(first), abs(second))


def _line(name: str, column: Sequence[int], values: Sequence[int]) -> Iterator[str]:
    index = next((i for i in range(1, len(column)) if column[i] != column[0]), None)
    if index is None or (values[index] - values[0]) % (column[index] - column[0]):
        return
    slope = (values[index] - values[0]) // (column[index] - column[0])
    shift = values[0] - slope * column[0]
    if slope and all(slope * c + shift == v for c, v in zip(column, values, strict=True)):
        text = name if slope == 1 else f"{slope} * {name}"
        yield text if not shift else f"{text} {'+' if shift > 0 else '-'} {abs(shift)}"


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def value_of(text: str | int, dims: Mapping[str, int]) -> int:
    """Evaluate an integer that was fitted, for some dims."""
    return text if isinstance(text, int) else evaluate(text, dims)
