"""The best table of kernels by shape: thresholds on one dim, or on a product of dims, and a kernel for each range.

Found exactly, by dynamic programming over the cases in the order of that quantity; a further row must pay for itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tasks.task import Case

MOST_ROWS = 4


@dataclass(frozen=True)
class ShapeRange:
    """One range of shapes and the option that serves it, by its place; no condition for the last one."""

    when: str
    option: int


@dataclass(frozen=True)
class _Division:
    """The best rows for the first groups of cases: cost, and where each row ends with its option."""

    cost: float
    ends: tuple[tuple[int, int], ...] = ()


def best_rows(
    cases: Sequence[Case], options: Sequence[Mapping[str, float]], least_gain_pct: float, rows: Sequence[int] = ()
) -> tuple[ShapeRange, ...] | None:
    """Up to four ranges that take least time over all cases; None where one option is as good.

    `options` hold a time for each case. Each row after the first must gain `least_gain_pct` over all cases. `rows` says
    how many rows each option takes, one where it is left out; an option of several is a table by itself.
    """
    further = [row_count - 1 for row_count in rows or [1] * len(options)]
    price = math.log1p(least_gain_pct / 100) * sum(case.weight for case in cases)
    plain = _Division(min(_cost(cases, o) for o, more in zip(options, further, strict=True) if not more))
    ranges = tuple[ShapeRange, ...]()
    best = plain.cost - price  # a table must be better than one kernel by a row's price
    for quantity in _quantities(cases):
        groups = _groups(cases, quantity)
        for division in _divisions(list(groups.values()), options, [price * more for more in further]):
            is_table = len(division.ends) > 1 or bool(further[division.ends[0][1]])
            cost = division.cost + price * (len(division.ends) - 2)
            if is_table and cost <= best and (not ranges or cost < best):
                ranges, best = _rows(quantity, list(groups), division), cost
    return ranges or None


def _quantities(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """List the dims, then their products."""
    names = tuple(cases[0].dims)
    return [chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)]


def _groups(cases: Sequence[Case], quantity: Sequence[str]) -> dict[int, list[Case]]:
    """Group the cases by the value of the quantity, in its order: cases with one value cannot be told apart."""
    groups = dict[int, list[Case]]()
    for case in sorted(cases, key=lambda c: math.prod(c.dims[name] for name in quantity)):
        groups.setdefault(math.prod(case.dims[name] for name in quantity), []).append(case)
    return groups


def _divisions(
    groups: Sequence[Sequence[Case]], options: Sequence[Mapping[str, float]], prices: Sequence[float]
) -> list[_Division]:
    """Find the best way over all groups with one row, with two, and so on."""
    before = [_Division(0.0), *([_Division(math.inf)] * len(groups))]  # by number of groups, with no row
    costs = [[sum(_cost([case], option) for case in group) for option in options] for group in groups]
    divisions = []
    for _ in range(min(MOST_ROWS, len(groups))):
        now = [_Division(math.inf)] * (len(groups) + 1)
        for start in range(len(groups)):
            sums = list(prices)
            for end in range(start + 1, len(groups) + 1):
                sums = [total + cost for total, cost in zip(sums, costs[end - 1], strict=True)]
                chosen = min(range(len(options)), key=sums.__getitem__)
                cost = before[start].cost + sums[chosen]
                if cost < now[end].cost:
                    now[end] = _Division(cost, (*before[start].ends, (end, chosen)))
        divisions.append(now[len(groups)])
        before = now
    return divisions


def _rows(quantity: Sequence[str], values: Sequence[int], division: _Division) -> tuple[ShapeRange, ...]:
    """Form the conditions of a way: each threshold is the geometric mean of the values on both sides of it."""
    name = " * ".join(quantity)
    *first, last = division.ends
    ends = [(math.isqrt(values[end - 1] * values[end]), option) for end, option in first]
    return (*(ShapeRange(f"{name} <= {threshold}", option) for threshold, option in ends), ShapeRange("", last[1]))


def _cost(cases: Sequence[Case], option: Mapping[str, float]) -> float:
    return sum(case.weight * math.log(option[case.name]) for case in cases)
