"""Comparisons of a candidate that are brought to one outcome everywhere, so that nothing hides what follows from it.

A comparison qualifies where one side is a number in the code, as of a cut-off, a clamp or a guard, or as long as it is
one, as of a running extreme, or where one is the same each time. The steps themselves are tasks/driven_inputs.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.lab.build.conditions import DataCondition, numbers_in
from tasks.compared_sides import Compared
from tasks.driven_inputs import Drive
from tasks.held_lines import HELD
from tasks.patterned_inputs import Rng

LONGEST, MOST = 7, 4  # steps of one way, and ways that have steps of their own
Key = tuple[int, float]  # the number of a mark, and of those of its rows that compare with one number of many, that one


@dataclass
class Drives:
    """The ways that were gone so far."""

    gone: dict[tuple[Key, bool], int] = field(default_factory=dict)

    def chosen(self, seen: Mapping[Key, Compared], rng: Rng) -> tuple[Key, Drive | None]:
        """One of the ways that were gone least often."""
        found = [(key, each) for key, one in seen.items() for each in _ways(key, one, rng)]
        if not found:
            return (-1, 0.0), None
        least = min(self.gone.get((key, each.to), 0) for key, each in found)
        fresh = [(key, each) for key, each in found if self.gone.get((key, each.to), 0) == least]
        key, driver = fresh[int(rng.integers(len(fresh)))]
        self.gone[key, driver.to] = least + 1
        return key, driver


def ways_of(conditions: Sequence[DataCondition]) -> int:
    """The number of lines with a comparison that may be brought to one outcome."""
    return len({each.line for each in conditions if each.how[-2:] in ORDERS and numbers_in((each,))})


def _ways(key: Key, one: Compared, rng: Rng) -> Iterator[Drive]:
    """Both outcomes, or the one that is not everywhere."""
    if one.relation not in ("less", "greater") or not one.truth.size:
        return
    number, side = key[1], 0
    if number:  # as a running extreme begins with
        side = int((one.values(1) == number).sum() > (one.values(0) == number).sum())
    else:
        alike = [values[0] if (values == values[0]).all() else 0.0 for values in map(one.values, (0, 1))]
        number, side = (float(alike[1]), 1) if one.fixed[1] or not alike[0] else (float(alike[0]), 0)
    if 0 < abs(number) <= HELD:  # what is computed reaches a larger one from inputs that are held
        yield from (Drive(number, side, to, rng) for to in (False, True) if not (one.truth == to).all())


ORDERS = frozenset({"lt", "le", "gt", "ge"})
