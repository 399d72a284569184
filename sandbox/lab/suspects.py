"""Undefined values that a program met: no fault by themselves, and the cause to name where its result is wrong.

A lane that reads one which does not take part gets anything, and many right reductions do so in lanes whose values
nobody uses. The executor gives it another value each time, so that a result which depends on it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from records.evaluation import Finding
from sandbox.base import COMPARED
from sandbox.recent import Recent

PROGRAMS = 64


class Suspects:
    """Undefined values seen in each of the programs that were executed last."""

    def __init__(self) -> None:
        self._seen = Recent[str, tuple[Finding, ...]](PROGRAMS)

    def noted(self, program: str, seen: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The same, remembered if there is anything and it is the first."""
        return self._seen.keep(program, seen) and seen if seen else ()

    def beside(self, program: str, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings with what may have caused them: before wrong results, behind faults that have a line."""
        if not findings:
            return ()
        seen = tuple(replace(one, case=findings[0].case) for one in self._seen.known(program) or ())
        is_compared = all(finding.kind in COMPARED for finding in findings)
        return (*seen, *findings) if is_compared else (*findings, *seen)
