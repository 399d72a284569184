"""Programs of the lab that are built while the same choice of tunables compiles for the GPU: two compilers, two cores.

Only to rank the choices of one text, and only while each of them is needed: where a choice has the listing of an
earlier one, or is refused, its program was built in vain, and the choices behind it are built one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from records.evaluation import Finding
from sandbox.candidate.prepare import Prepared
from sandbox.lab.build.lab_program import LabProgram
from sandbox.lab.lab import Lab
from sandbox.recent import Recent

Made = TypeVar("Made")
Program = LabProgram | tuple[Finding, ...]
Choice = tuple[str, tuple[tuple[str, int], ...]]
REMEMBERED = 16  # texts


class BuildsAhead:
    """Builds of one lab. Safe for threads."""

    def __init__(self, lab: Lab) -> None:
        """With one core nothing is built ahead."""
        self._lab = lab
        self.expressions: Recent[str, Mapping[str, str]] = Recent(REMEMBERED)  # of a text's programs built in full
        self._begun: dict[Choice, Future[Program]] = {}
        self._in_vain = set[str]()  # texts
        self._lock = threading.Lock()

    def beside(self, prepared: Prepared, compile: Callable[[], Made]) -> Made:
        """The compilation for the GPU; where the text's expressions are known, the program is built meanwhile."""
        expressions = self.expressions.known(prepared.candidate.id)
        if self._lab.cores > 1 and expressions is not None:
            with self._lock:
                self._begin(prepared, expressions)
        return compile()

    def program(self, prepared: Prepared, expressions: Mapping[str, str] | None, spent_s: float) -> Program:
        """The program, or why there is none; built now where nobody has begun."""
        with self._lock:
            begun = None if expressions is None else self._begun.pop(_choice(prepared), None)
        if begun is not None:
            return begun.result()
        return self._lab.build(prepared.candidate, prepared.tunables, expressions=expressions, spent_s=spent_s)

    def _begin(self, prepared: Prepared, expressions: Mapping[str, str]) -> None:
        text = prepared.candidate.id
        for choice in [choice for choice in self._begun if choice[0] == text]:
            self._in_vain.add(text)
            self._begun.pop(choice).cancel()
        if text in self._in_vain:
            return
        thread = ThreadPoolExecutor(1, "build ahead")
        self._begun[_choice(prepared)] = thread.submit(
            self._lab.build, prepared.candidate, prepared.tunables, expressions=expressions
        )
        thread.shutdown(wait=False)  # it ends with the build: one that waited for more would hold up the process's end


def _choice(prepared: Prepared) -> Choice:
    return prepared.candidate.id, tuple(sorted(prepared.tunables.items()))
