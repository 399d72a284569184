"""The timelines of a launch, as the interpreter walks through them: checked numbers of one compute unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.lab.cost.clock import STALLS, WORK


@dataclass(frozen=True)
class Timeline:
    """One compute unit, cold or warm."""

    ends: tuple[float, ...]  # clocks after which its workgroups end, in that order
    waits: Mapping[str, float]  # clocks of all waves by cause, see STALLS
    bytes: tuple[float, float, float]  # of one workgroup: beyond the L1, the L2, the Infinity Cache
    work: Mapping[str, float]  # of one workgroup: clocks of all SIMDs, of LDS and address unit, see WORK
    steps: float
    stalls: tuple[tuple[int, Mapping[str, float]], ...]  # place of an instruction, its waves' clocks by cause

    def clocks(self, workgroups: float, resident: int) -> float:
        """Give the clocks until so many workgroups of the unit have ended, of which so many run at once.

        Beyond those walked through they go on at the rate of the last whole rounds.
        """
        count = len(self.ends)
        if not count:
            return 0.0
        if workgroups <= count:
            return self.ends[max(0, round(workgroups) - 1)]
        rounds = max(1, count // 2 // resident) * resident
        clocks_each = (self.ends[-1] - self.ends[-1 - rounds]) / rounds if rounds < count else self.ends[-1] / count
        return self.ends[-1] + (workgroups - count) * clocks_each

    def shared(self, factor: float) -> Timeline:
        """Give the timeline of workgroups that share their work evenly, each with `factor` times the mean of these.

        Which of them takes how much from a queue is decided at run time, here by who is executed first.
        """
        mean = sum(self.ends) / max(1, len(self.ends)) * factor
        return replace(
            self,
            ends=(mean,) * len(self.ends),
            bytes=(self.bytes[0] * factor, self.bytes[1] * factor, self.bytes[2] * factor),
            work={name: value * factor for name, value in self.work.items()},
        )


@dataclass(frozen=True)
class Timelines:
    """Of one launch: with cold and with warm caches; and atomic operations on the line that most go to.

    Exchanges are those of them that are tried again where another came between.
    """

    cold: Timeline
    warm: Timeline
    hottest: float
    exchanges: float = 0.0

    def shared(self, factor: float) -> Timelines:
        """Give those of workgroups that share their work evenly."""
        return Timelines(
            self.cold.shared(factor), self.warm.shared(factor), self.hottest * factor, self.exchanges * factor
        )


def timelines(row: Mapping[str, Any] | None) -> Timelines | None:
    """Read the checked row of result.json; None where there is none."""
    if row is None:
        return None
    return Timelines(_timeline(row["cold"]), _timeline(row["warm"]), float(row["hottest"]), float(row["exchanges"]))


def _timeline(row: Mapping[str, Any]) -> Timeline:
    return Timeline(
        ends=tuple(map(float, row["ends"])),
        waits=dict(zip(STALLS, map(float, row["waits"]), strict=True)),
        bytes=(float(row["bytes"][0]), float(row["bytes"][1]), float(row["bytes"][2])),
        work=dict(zip(WORK, map(float, row["work"]), strict=True)),
        steps=float(row["steps"]),
        stalls=tuple((stall[0] + 1, _causes(stall[1:])) for stall in row["places"]),
    )


def _causes(values: Sequence[int]) -> Mapping[str, float]:
    return {name: float(value) for name, value in zip(STALLS, values, strict=True) if value}
