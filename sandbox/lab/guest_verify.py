"""The verdict on a kernel in another language than HIP: tests, shapes derived from them, the task's own families.

Its code depends on the case, so each case is executed by a program of its own. What is read of C++ source to choose
cases has no counterpart here, and no time is predicted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from records.errors import PlanError
from records.evaluation import CaseResult, Evaluation, Finding, Verdict
from sandbox.base import judged
from sandbox.candidate.codes import rejected
from sandbox.candidate.language import SOURCE_NAMES
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.cases.shapes.growth import plan_cases
from sandbox.guests.listed_plan import PlanCompiler
from sandbox.lab.lab_verify import Built, Judge, Patience
from sandbox.lab.listed_values import ListedValues
from sandbox.lab.machine_lab import MachineLab
from tasks.held_out import held_out_cases
from tasks.task import Case


@dataclass(frozen=True)
class FixedPlan(Prepared):
    """A candidate whose plan for one case is the one that its code takes."""

    fixed: ResolvedPlan | None = None

    def plan(self, case: Case, *, is_kept: bool = True) -> ResolvedPlan:
        """Return the plan of the case."""
        assert self.fixed is not None
        return self.fixed


@dataclass(frozen=True)
class GuestLab:
    """Judges kernels of other languages by the machine."""

    lab: MachineLab
    compiler: PlanCompiler
    seed: int = 0
    patience: Patience = field(default_factory=Patience)

    def verify(self, prepared: Prepared, begun: Evaluation) -> Evaluation:
        """Execute and compare case by case; the first one that fails ends it."""
        started, rows, values = time.monotonic(), list[CaseResult](), ListedValues(prepared.task)
        for case, family in self._cases(prepared):
            built = self.built(prepared, case)
            if not isinstance(built, Built):
                verdict = rejected("compile", built)
                return replace(begun, verdict=verdict, cases=tuple(rows), seconds=time.monotonic() - started)
            row, findings = Judge(self.lab, built, self.patience, listed=values).run(case, family)
            rows.append(row)
            if findings:
                return replace(begun, verdict=judged(findings), cases=tuple(rows), seconds=time.monotonic() - started)
        verdict = Verdict("correct", True, "OK")
        return replace(begun, verdict=verdict, cases=tuple(rows), seconds=time.monotonic() - started)

    def built(self, prepared: Prepared, case: Case) -> Built | tuple[Finding, ...]:
        """Build the kernel's program for a case; findings where it does not compile or its plan has no value there."""
        try:
            listed = self.compiler.compile(prepared, case)
        except PlanError as error:
            return (Finding("over_limit", str(error), line=error.line, case=case.name),)
        if listed.findings:
            return listed.findings
        compilation, plan = listed.merged()
        symbols = {kernel.name: kernel.symbol for kernel in compilation.kernels}
        program = self.lab.program(compilation.listing, symbols, SOURCE_NAMES[prepared.candidate.language])
        if isinstance(program, tuple):
            return program
        fixed = FixedPlan(prepared.candidate, prepared.task, prepared.tunables, fixed=plan)
        return Built(fixed, compilation, program)

    def _cases(self, prepared: Prepared) -> Iterator[tuple[Case, str | None]]:
        task = prepared.task
        shapes = (*task.tests, *plan_cases(prepared, self.seed), *held_out_cases(task, self.seed))
        yield from ((case, None) for case in {case.name: case for case in shapes}.values())
        first = replace(task.tests[0], role="held_out")
        yield from ((first, name) for name in task.variant_names)
