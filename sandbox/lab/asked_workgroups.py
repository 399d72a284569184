"""The workgroups of each launch that the executor is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from records.errors import LabError
from sandbox.candidate.resolve import ResolvedPlan

Lists = tuple[tuple[int, ...] | None, ...]


def chosen_of(plan: ResolvedPlan, most: int | None, requested: Lists) -> tuple[tuple[int, ...], Lists]:
    """Count the workgroups of each launch, and list their numbers where these are given; all of a cooperative launch.

    LabError when a list does not fit its launch.
    """
    totals = [math.prod(launch.grid) for launch in plan.launches]
    lists = requested or (None,) * len(totals)
    if len(lists) != len(totals):
        raise LabError(f"{len(lists)} lists of workgroups for {len(totals)} launches; give one for each")
    for numbers, total in zip(lists, totals, strict=True):
        _check(numbers, total)
    lists = tuple(n if not at_once else None for n, at_once in zip(lists, together(plan), strict=True))
    few = (None if at_once else most for at_once in together(plan))
    even = [total if n is None else min(total, max(1, n)) for n, total in zip(few, totals, strict=True)]
    return tuple(n if numbers is None else len(numbers) for n, numbers in zip(even, lists, strict=True)), lists


def together(plan: ResolvedPlan) -> tuple[int, ...]:
    """Workgroups that run at once, of each launch; 0 of one that is not cooperative."""
    return tuple(math.prod(launch.grid) if launch.cooperative else 0 for launch in plan.launches)


def _check(numbers: Sequence[int] | None, total: int) -> None:
    if numbers is not None and (not numbers or len(set(numbers)) != len(numbers)):
        raise LabError("a list of workgroups is empty or names one twice; give each number once")
    if numbers is not None and not (min(numbers) >= 0 and max(numbers) < total):
        raise LabError(f"a workgroup is not in its grid of {total}; give numbers of this launch")
