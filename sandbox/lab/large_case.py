"""One derived case as large as a benchmark: a few workgroups, secretly drawn, and those at the ends of its grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from sandbox.candidate.plan_ways import MOST_COST
from sandbox.candidate.prepare import Prepared
from sandbox.lab.lab_verify import Judge, Rows
from sandbox.lab.listed_case import ListedCase
from sandbox.lab.scaled_case import scaled
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import AFFORDABLE, ENDS, FEWEST, TimedCase
from tasks.domain import admits
from tasks.expressions import names_in
from tasks.held_out import SMALL, cost
from tasks.manifest import case_name
from tasks.task import Case

FEW = 10  # workgroups from anywhere in the grid
WHOLE = 1 << 26  # accesses up to which a case is executed whole
THIN = 2.0**29  # operations plus bytes of a case with the same outputs that shows who owns which of them
WORK = 2.0**22  # operations plus bytes where no part can be executed alone, though nothing in the plan says so


@dataclass(frozen=True)
class LargeCase:
    """A case that nobody listed, of which a few workgroups stand for all."""

    judge: Judge
    case: Case
    inputs: SessionInputs
    is_whole: bool = False  # where that costs little

    def run(self) -> Rows:
        """Execute and compare some of it, or all of a small one; findings are empty when it is right."""
        if not has_parts(self.judge.built.prepared, self.inputs) or cost(self.judge.task, self.case.dims) <= SMALL:
            return ListedCase(self.judge, self.case, None, self.inputs).run()
        timed = TimedCase(self.judge, self.case, self.inputs.fresh(self.case), self.inputs.rng)
        sample = timed.nothing()
        for count, ends in ((FEWEST, 0), (FEW, ENDS)):
            each = max(1.0, sample.accesses / max(1, len(sample.written)))
            if ends and self.is_whole and each * prod(timed.launch.grid) <= WHOLE:
                return self.judge.run(self.case)
            findings = timed.sampled(sample, min(count, max(1, int(AFFORDABLE / each))) - len(sample.written), ends)
            if findings is None and self.is_whole and cost(self.judge.task, self.case.dims) <= MOST_COST:
                return self.judge.run(self.case)  # a shorter one would not be what it is for
            if findings is None:
                row, findings = self.judge.run(scaled(self.judge.task, self.case, WORK))
                return replace(row, stands_for=self.case.name), findings
            if findings:
                return timed.refused(findings, sample)
        if not sample.leaves_a_question(timed.elements):
            return timed.row(sample), ()
        told = timed.inner(sample) if sample.falls_short(timed.elements) else None
        return told or self._thin(timed) or timed.answer(sample)

    def _thin(self, timed: TimedCase) -> Rows | None:
        """Findings where each element takes little work: the same workgroups own the same elements."""
        task, dims = self.judge.task, dict(self.case.dims)
        in_outputs = {name for spec in task.outputs for extent in spec.shape for name in names_in(str(extent))}
        for name in set(dims) - in_outputs:
            dims[name] = min(case.dims[name] for case in (*task.tests, *task.benchmarks))
        thin = replace(self.case, name=case_name(dims), dims=dims)
        if dims == self.case.dims or cost(task, dims) > THIN or not admits(task, dims):
            return None
        if [launch.grid for launch in self.judge.built.prepared.plan(thin).launches] != [timed.launch.grid]:
            return None
        row, findings = self.judge.run(thin)
        return (row, findings) if findings else None


def has_parts(prepared: Prepared, inputs: SessionInputs) -> bool:
    """True where a few workgroups of a plan can be executed alone, and their part of the reference be computed."""
    return prepared.plans[0].has_parts and not prepared.task.initials and bool(inputs.dims)
