"""Outputs of further draws of a case that has only a few: the standard implementation may be right on few by luck.

Sums of some thousand values that round at random are off by a few units of the last place, now and then by none. A
right kernel that adds in another order is then off by more than twice nothing. Nor are the outputs of a few rows many
where each has the error of its row's sum. So where a case that the judge draws has few outputs and a kernel misses the
limit by little, the limit is taken from as many outputs as are enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sandbox.cases.inputs.families import InputFamilies
from tasks.held_out import cost
from tasks.task import Array, Case

ENOUGH = 4096  # elements of an output: those of a row have the error of its sum in common
MOST_DRAWS = 32
MOST_COST = 2.0**27  # operations plus bytes of all draws together; two are always made
_APART = 1_000_003  # from one draw's seed to the next


def has_few(case: Case, size: int) -> bool:
    """Tell whether an output has so few elements, in a case that is not listed."""
    return case.role == "held_out" and 0 < size < ENOUGH


def more_outputs(families: InputFamilies, case: Case, family: str | None, output: str) -> tuple[Array, Array]:
    """Compute the reference and the baseline of an output on further draws, as flat arrays."""
    pairs = list(_draws(families, case, family, output))
    return np.concatenate([want for want, _ in pairs]), np.concatenate([base for _, base in pairs])


def _draws(families: InputFamilies, case: Case, family: str | None, output: str) -> Iterator[tuple[Array, Array]]:
    task, count = families.task, 0
    most = min(MOST_DRAWS, max(2, int(MOST_COST / max(1.0, cost(task, case.dims)))))
    for number in range(1, most + 1):
        other = replace(case, seed=(case.seed + number * _APART) % 2**32)
        with np.errstate(all="ignore"):
            reference, baseline = task.expected(families.draw(other, family), other)
        yield np.ravel(reference[output]), np.ravel(baseline[output])
        count += reference[output].size
        if count >= ENOUGH:
            return
