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
        outcomes = self._seen.get(program.path, list)
        with self._lock:
            outcomes.extend([0] * (len(digits) - len(outcomes)))
            for number, digit in enumerate(digits):
                outcomes[number] |= int(digit)

    def one_sided(self, program: LabProgram, source: str) -> tuple[OneSided, ...]:
        """List the comparisons of which one outcome only was seen, by all instructions of a place, in order of lines.

        One that was never reached is none: what reaches it is a comparison of its own. What a builtin does inside is
        none of the candidate's.
        """
        noted, outcomes_at = self._seen.known(program.path) or [], dict[tuple[int, int], int]()
        for comparison, outcomes in zip(program.reported, noted, strict=False):
            position = (comparison.line, comparison.column)
            outcomes_at[position] = outcomes_at.get(position, 0) | outcomes
        lines, comparisons = source.split("\n"), []
        for (line, column), outcomes in sorted(outcomes_at.items()):
            text = lines[line - 1] if line <= len(lines) else ""
            if outcomes in ONE_SIDED and not text[max(0, column - 1) :].startswith("__builtin_"):
                comparisons.append(OneSided(line, column, text.strip()))
        return tuple(comparisons)
