"""The outcomes that a program's comparisons of data had in all executions."""

from __future__ import annotations

import threading

from records.evaluation import OneSided
from sandbox.lab.lab_program import LabProgram
from sandbox.recent import Recent

PROGRAMS = 64
ONE_SIDED = (1, 2)  # of a comparison: 1 false, 2 true, 3 both


class Outcomes:
    """Outcomes seen of each of the programs that were executed last. Safe for threads."""

    def __init__(self) -> None:
        self._seen = Recent[str, list[int]](PROGRAMS)
        self._lock = threading.Lock()

    def note(self, program: LabProgram, digits: str) -> None:
        """Add a digit for each comparison of a program, as its executor answered them."""
        if not digits:
            return
        seen = self._seen.get(program.path, list)
        with self._lock:
            seen.extend([0] * (len(digits) - len(seen)))
            for number, digit in enumerate(digits):
                seen[number] |= int(digit)

    def one_sided(self, program: LabProgram, source: str) -> tuple[OneSided, ...]:
        """List the comparisons of which one outcome only was seen, by all instructions of a place, in order of lines.

        One that was never reached is none: what reaches it is a comparison of its own. What a builtin does inside is
        none of the candidate's.
        """
        seen, places = self._seen.known(program.path) or [], dict[tuple[int, int], int]()
        for comparison, outcomes in zip(program.told, seen, strict=False):
            place = (comparison.line, comparison.column)
            places[place] = places.get(place, 0) | outcomes
        lines, found = source.split("\n"), []
        for (line, column), outcomes in sorted(places.items()):
            text = lines[line - 1] if line <= len(lines) else ""
            if outcomes in ONE_SIDED and not text[max(0, column - 1) :].startswith("__builtin_"):
                found.append(OneSided(line, column, text.strip()))
        return tuple(found)
