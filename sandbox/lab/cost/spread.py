"""Work of the recorded workgroups of a launch beside that of the others: do they stand for its whole grid?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

QUARTERS = 4  # as many streams of a launch as are kept
UNLIKE = 2.0  # times the work of the recorded workgroups, or one part in so many, that others may do


@dataclass(frozen=True)
class Spread:
    """Work of the executed workgroups of one launch, and the bytes that the recorded ones moved, scaled to the grid."""

    executed: int
    recorded: int
    work: int  # of all that were executed: their waves' instructions and their lanes' accesses, see workgroup.h
    recorded_work: int
    busy: int  # of the executed ones, those that have something to do
    most: int  # work of one of them
    is_atomic: bool  # has changed memory atomically: which workgroup does what may be decided at run time
    loaded: Mapping[str, float]  # distinct bytes of each workgroup by buffer, summed
    stored: Mapping[str, float]
    works: tuple[int, ...] = ()  # of those that a list names, in its order

    @classmethod
    def of(cls, row: Mapping[str, Any], names: Sequence[str], scale: float) -> Spread:
        """Read the spread from a launch's row in result.json; `names` are those of the buffers."""
        record = row["recorded"]
        loaded, stored = (
            {name: value * scale for name, value in zip(names, record[direction], strict=True)}
            for direction in ("loaded", "stored")
        )
        work, busy, most = (int(row[name]) for name in ("work", "busy", "most"))
        recorded, recorded_work = int(record["blocks"]), int(record["work"])
        works = tuple(int(value) for value in row["works"])
        executed, is_atomic = int(row["executed"]), bool(row["atomic"])
        return cls(executed, recorded, work, recorded_work, busy, most, is_atomic, loaded, stored, works)

    @property
    def is_alike(self) -> bool:
        """True where those that were executed without being recorded did about as much as the recorded ones."""
        return 1 / UNLIKE <= self.others_share <= UNLIKE

    @property
    def others_share(self) -> float:
        """Work of one that was executed without being recorded, over that of a recorded one; 1 where there is none."""
        unrecorded = self.executed - self.recorded
        if unrecorded <= 0 or not self.work:
            return 1.0
        ours = self.recorded_work / max(1, self.recorded)
        return (self.work - self.recorded_work) / unrecorded / ours if ours else math.inf

    def quartiles_first(self, numbers: Sequence[int]) -> tuple[int, ...] | None:
        """Order a list of workgroups: first those that stand for a quarter of it each; None where all are alike.

        The first ones are those whose timelines are walked.
        """
        if len(self.works) != len(numbers) or max(self.works) <= UNLIKE * min(self.works):
            return None
        by_work = sorted(range(len(numbers)), key=lambda i: (self.works[i], i))
        first = [by_work[(2 * part + 1) * len(numbers) // (2 * QUARTERS)] for part in range(QUARTERS)]
        return tuple(numbers[i] for i in (*first, *(i for i in range(len(numbers)) if i not in first)))

    def busy_of(self, total: int) -> int:
        """Count the workgroups of the grid that have something to do; all where it may be others on each run."""
        return total if self.is_atomic else max(1, round(total * self.busy / max(1, self.executed)))

    @property
    def heaviest(self) -> float:
        """Work of the heaviest workgroup over the mean of the busy ones; 1 where it may be another on each run."""
        return self.most * self.busy / self.work if self.work and not self.is_atomic else 1.0


NOTHING = Spread(0, 0, 0, 0, 0, 0, False, {}, {})
