"""The cases that a foreign format lists: sizes, real scalars, and values of other kinds, which a task cannot vary."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imports.refusal import ImportRefused

MOST_CASES = 6  # benchmark cases that a task takes
VALUES = 4  # of a real argument over the tests


@dataclass(frozen=True)
class ListedCases:
    """Cases that agree in all but sizes and real numbers; the largest one first."""

    cases: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    tests: tuple[Mapping[str, Any], ...] = ()  # further, small ones that agree with them

    @property
    def sizes(self) -> dict[str, int]:
        """The whole numbers of the largest case."""
        return {n: v for n, v in self.cases[0].items() if is_size(v)}

    @property
    def scalars(self) -> dict[str, float]:
        """The real numbers of the largest case."""
        return {n: v for n, v in self.cases[0].items() if isinstance(v, float) and math.isfinite(v)}

    @property
    def others(self) -> dict[str, Any]:
        """Everything else, the same in all of them."""
        return {n: v for n, v in self.cases[0].items() if n not in self.sizes and n not in self.scalars}

    @property
    def numbers(self) -> list[Mapping[str, float]]:
        """The sizes and scalars of each."""
        return [{n: v for n, v in case.items() if n not in self.others} for case in self.cases]

    @property
    def more(self) -> list[Mapping[str, float]]:
        """The sizes and scalars of the tests."""
        return [{n: v for n, v in case.items() if n not in self.others} for case in self.tests]


def is_size(value: object) -> bool:
    """Tell whether a value is a positive whole number."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def listed(cases: Sequence[Mapping[str, Any]], source: str, tests: Sequence[Mapping[str, Any]] = ()) -> ListedCases:
    """Those that have the other values of the largest; ImportRefused where there is none or their names differ."""
    if not cases:
        raise ImportRefused(f"{source} lists no case")
    ordered = sorted(cases, key=lambda case: -_product(case))
    first = ordered[0]
    if any(set(case) != set(first) for case in (*ordered, *tests)):
        raise ImportRefused(f"the cases of {source} do not have the same names")
    fixed = {n: v for n, v in first.items() if not is_size(v) and not isinstance(v, float)}

    def agrees(case: Mapping[str, Any]) -> bool:
        is_same = all(_alike(case[n], v) for n, v in fixed.items())
        return is_same and all(is_size(case[n]) == is_size(v) for n, v in first.items())

    same, small = ([case for case in rows if agrees(case)] for rows in (ordered, tests))
    notes, count = [], len(ordered) + len(tests)
    if len(same) + len(small) < count:
        fixed_text = ", ".join(f"{n} = {json.dumps(v, default=str)}" for n, v in fixed.items())
        left = count - len(same) - len(small)
        notes.append(f"{left} of {count} cases are left out, since a task has one value of {fixed_text}")
    distinct = list({json.dumps(case, sort_keys=True, default=str): case for case in same}.values())
    if len(distinct) > MOST_CASES:
        step = (len(distinct) - 1) / (MOST_CASES - 1)
        distinct = [distinct[round(i * step)] for i in range(MOST_CASES)]
        notes.append(f"{len(distinct)} of {len(same)} cases were taken, from the largest to the smallest")
    return ListedCases(tuple(distinct), tuple(notes), tuple(small))


def _product(case: Mapping[str, Any]) -> int:
    return math.prod(v for v in case.values() if is_size(v))


def _alike(left: object, right: object) -> bool:
    return type(left) is type(right) and left == right


def varied(scalars: Mapping[str, float], index: int) -> dict[str, float]:
    """Give the values of a test: the caller's own, then smaller ones: no kernel has them built in."""
    part = (index % VALUES) / (2 * VALUES)
    return {n: v * (1 - part) if v else part for n, v in scalars.items()} if part else {}
