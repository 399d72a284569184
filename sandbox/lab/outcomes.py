"""The outcomes that a program's comparisons of data had in all executions, and what they compared in the last one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from records.evaluation import OneSided
from sandbox.lab.build.conditions import DataCondition
from sandbox.lab.build.lab_program import LabProgram
from sandbox.lab.executor_request import Region
from sandbox.recent import Recent
from tasks.compared_sides import Compared
from tasks.distinct import distinct

PROGRAMS = 64
BOTH = 3  # of a mark: 1 false, 2 true


class Outcomes:
    """Outcomes seen of each of the programs that were executed last. Safe for threads."""

    def __init__(self) -> None:
        self._seen = Recent[str, list[int]](PROGRAMS)
        self._compared = dict[str, dict[int, Compared]]()
        self._lock = threading.Lock()

    def of(self, program: str, mark: int) -> int:
        """The outcomes of one mark: 0 none, 1 false, 2 true, 3 both."""
        seen = self._seen.known(program) or []
        return seen[mark] if mark < len(seen) else 0

    def take_compared(self, program: LabProgram) -> Mapping[int, Compared]:
        """The comparisons of the last execution of a program that records, by the numbers of the marks; once."""
        return self._compared.pop(program.path, {})

    def note_answer(self, program: LabProgram, answer: Mapping[str, Any], regions: Sequence[Region]) -> None:
        """Note the outcomes that an executor answered, and keep the rows of a program that records."""
        if program.recorded_of:
            self._compared[program.path] = compared_in(answer["compared"], program.conditions, regions)
        self.note(program.recorded_of or program.path, answer["outcomes"])

    def note(self, program: str, marks: str) -> None:
        """Add a digit for each mark of a program, as its executor answered them."""
        if not marks:
            return
        seen = self._seen.get(program, list)
        with self._lock:
            seen.extend([0] * (len(marks) - len(seen)))
            for number, digit in enumerate(marks):
                seen[number] |= int(digit)

    def one_sided(self, program: LabProgram, source: str) -> tuple[OneSided, ...]:
        """The conditions of which one outcome only was seen, by all marks of their place; in the order of lines.

        One that was never reached is none: what reaches it is a condition of its own. What a builtin does inside is
        none of the candidate's.
        """
        seen, places = self._seen.known(program.path) or [], dict[tuple[int, int], int]()
        for condition, outcomes in zip(program.conditions, seen, strict=False):
            place = (condition.line, condition.column)
            places[place] = places.get(place, 0) | outcomes
        lines, found = source.split("\n"), []
        for (line, column), outcomes in sorted(places.items()):
            text = lines[line - 1] if line <= len(lines) else ""
            if outcomes in (1, 2) and not text[column - 1 :].startswith("__builtin_"):
                found.append(OneSided(line, column, text.strip()))
        return tuple(found)


def compared_in(
    rows: Sequence[Sequence[int]], conditions: Sequence[DataCondition], regions: Sequence[Region]
) -> dict[int, Compared]:
    """The rows of each comparison, with addresses turned into places of buffers; those of no buffer are left out."""
    if not rows:
        return {}
    table: npt.NDArray[np.uint64] = np.array(rows, np.uint64)
    places = table[:, 4:]
    buffers = np.full(places.shape, -1, np.int64)
    offsets, sizes = np.zeros(places.shape, np.int64), (places >> np.uint64(56)).astype(np.int64)
    for number, region in enumerate(regions):
        at = (places & np.uint64((1 << 56) - 1)) - np.uint64(region.address)  # wraps below it
        inside = (places > 0) & (at < np.uint64(region.size))
        buffers[inside], offsets[inside] = number, at[inside].astype(np.int64)
    names, found = tuple(region.buffer.name for region in regions), dict[int, Compared]()
    for mark in distinct(table[:, 0]).tolist():
        if mark < len(conditions) and conditions[mark].how:
            mine, one = table[:, 0] == mark, conditions[mark]
            truth, left, right = table[mine, 1].astype(bool), table[mine, 2], table[mine, 3]
            at_ = names, buffers[mine], offsets[mine], sizes[mine]
            found[int(mark)] = Compared(one.how, one.kind, truth, left, right, *at_, one.fixed)
    return found
