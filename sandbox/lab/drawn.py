"""The workgroups of a benchmark case that were executed so far, and what they leave in question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from sandbox.lab.ownership import LESS, Ownership
from sandbox.lab.pieces import Piece
from sandbox.lab.workgroups import Grid, is_edge
from tasks.task import Case, Task


@dataclass
class Drawn:
    """Their numbers, elements written, places, accesses, seconds, worst error."""

    grid: Grid
    owners: Mapping[str, Ownership]  # by output
    elements_written: dict[int, int] = field(default_factory=dict)
    drawn: list[int] = field(default_factory=list)
    accesses: int = 0
    seconds: float = 0.0
    error: float = 0.0

    @classmethod
    def of(cls, task: Task, case: Case, grid: Grid) -> Self:
        """Begin a sample without workgroups."""
        outputs = {s.name: (task.shape_of(s, case), s.layout == "column_major") for s in task.outputs}
        return cls(grid, {name: Ownership(grid, *about) for name, about in outputs.items()})

    def add(self, number: int, pieces: Mapping[str, Piece]) -> None:
        """One workgroup more, and what it wrote of each output."""
        self.elements_written[number] = sum(piece.positions.size for piece in pieces.values())
        for name, piece in pieces.items():
            self.owners[name].add(number, piece.positions)

    @property
    def shared(self) -> int:
        """Workgroups that begin where another one does, in the output where they are most."""
        return max(owner.shared for owner in self.owners.values())

    @property
    def is_at_ends(self) -> bool:
        """True where each is the last one along some axis, though others are not."""
        total, inner = math.prod(self.grid), math.prod(max(1, extent - 1) for extent in self.grid)
        return inner < total and all(is_edge(number, self.grid) for number in self.elements_written)

    def falls_short(self, elements: int) -> bool:
        """Tell whether no number of idle workgroups explains it: all write too little, or a tile at an end is cut."""
        too_little = max(self.elements_written.values()) * math.prod(self.grid) < LESS * elements
        return too_little or any(owner.is_cut_short for owner in self.owners.values())

    @property
    def rivals(self) -> tuple[int, ...]:
        """Workgroups that may write where others of the sample do."""
        return tuple(dict.fromkeys(number for owner in self.owners.values() for number in owner.rivals()))

    @property
    def twin(self) -> int:
        """A workgroup that begins where another one does; any where none does."""
        return next((n for owner in self.owners.values() for n in owner.twins), next(iter(self.elements_written)))

    def is_missing(self, elements: int) -> bool:
        """Tell whether a workgroup wrote less than its share, or all of them less than the whole output needs."""
        most = max(self.elements_written.values())
        return self.falls_short(elements) or any(
            count == 0 or (count < LESS * most and not is_edge(number, self.grid))
            for number, count in self.elements_written.items()
        )

    def leaves_a_question(self, elements: int) -> bool:
        """Tell whether something seems to be missing, or could be: two workgroups may own the same place."""
        return self.is_missing(elements) or not all(owner.is_plain for owner in self.owners.values())
