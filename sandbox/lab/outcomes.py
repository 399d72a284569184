"""The outcomes that a program's comparisons of data had in all executions that were compared."""

from __future__ import annotations

import threading

from records.evaluation import OneSided
from sandbox.lab.build.program import LabProgram
from sandbox.recent import Recent

PROGRAMS = 64
BOTH = 3  # of a mark: 1 false, 2 true


class Outcomes:
    """Outcomes seen of each of the programs that were executed last. Safe for threads."""

    def __init__(self) -> None:
        self._seen = Recent[str, list[int]](PROGRAMS)
        self._lock = threading.Lock()

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
