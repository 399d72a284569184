"""Benchmark cases compared with the reference: what is timed must be right, too.

A few secretly drawn workgroups of each case are executed, each into outputs of its own, so that it is known which of
them wrote what. All they wrote is compared, and what they left out is a question: a workgroup that writes nothing, or
less than the others, leads to the execution of the whole case, or of many more workgroups where that costs too much.
Plans of several launches and plans with workspaces pass values from workgroup to workgroup, so they are executed whole,
or on the case scaled down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from records.computed_once import computed_once
from records.errors import ReferenceTooLarge
from records.evaluation import CaseResult, Finding
from sandbox.candidate.arguments import BufferArg, StructArg
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.drawn import Drawn
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest
from sandbox.lab.lab_verify import Built, Judge, Rows, coverage, written_buffers
from sandbox.lab.ownership import LESS
from sandbox.lab.scaled_case import scaled, shortened, within_memory
from sandbox.lab.slab_comparison import SlabComparison
from sandbox.lab.timed_inputs import TimedInputs
from sandbox.lab.workgroups import drawn
from tasks.held_out import SMALL, cost
from tasks.task import Case

FEWEST = 1  # workgroups of a case from anywhere in the grid, besides one at the end of each axis
MOST = 24
ENDS = 1
INNER = 3  # more of them where all lie at ends by chance
AFFORDABLE = 1 << 20  # accesses after which no more than the fewest are executed
ENOUGH = 459  # ln(0.01) / ln(0.99): an error in 1 % of the workgroups passes with a probability below 1 %
SAMPLE_S = 30.0  # for the first workgroups of a large case, whose cost is not known
SLACK = 4.0  # times what the first ones took, which the others may take
BATCH = 24  # workgroups of one execution: each has outputs of its own
WHOLE = 1 << 31  # accesses up to which a case in question is executed whole
SURE = 3.0  # standard errors
OWNERS = 48  # workgroups at least that are executed where their numbers do not follow from their places
FEW = 1 << 24  # accesses up to which more of them are, `ENOUGH` at most
TWICE = 2  # workgroups that write where others of a sample do, from which on it is no chance


@dataclass(frozen=True)
class TimedCase:
    """One benchmark case of one candidate in the lab."""

    judge: Judge
    case: Case
    inputs: TimedInputs
    rng: np.random.Generator

    @property
    def built(self) -> Built:
        """The candidate."""
        return self.judge.built

    @computed_once
    def plan(self) -> ResolvedPlan:
        """Its launches on this case."""
        return self.built.prepared.plan(self.case)

    @property
    def launch(self) -> ResolvedLaunch:
        """The only launch of a plan that can be sampled."""
        return self.plan.launches[0]

    @property
    def elements(self) -> int:
        """Elements of all outputs."""
        return sum(math.prod(self.judge.task.shape_of(s, self.case)) for s in self.judge.task.outputs)

    @property
    def compared(self) -> SlabComparison:
        """Comparison of its outputs."""
        return SlabComparison(self.judge.task, self.case, self.inputs)

    @property
    def _patience_s(self) -> float:
        deadline_s = self.judge.patience.deadline_s
        return deadline_s if cost(self.judge.task, self.case.dims) <= SMALL else max(deadline_s, SAMPLE_S)

    def run(self) -> Rows:
        """Execute a few workgroups and compare; the case scaled down where its reference takes too much memory."""
        try:
            return self._run()
        except ReferenceTooLarge:
            most = cost(self.judge.task, self.case.dims) / 2
            return within_memory(self.judge, lambda judge, limit: replace(self, judge=judge)._at_most(limit), most)

    def _run(self) -> Rows:
        """Execute a few workgroups and compare; more, or all, where these leave a question."""
        if cost(self.judge.task, self.case.dims) <= SMALL:
            return self.whole()
        if not self.plan.has_parts or self.judge.task.initials:
            return self.scaled()
        sample = self.nothing()
        for ends in (0, ENDS):  # the ends come last: they are known, so their cost must not decide anything
            findings = self.sampled(sample, max(0, self._more(sample)) if ends else FEWEST, ends)
            if findings is None:
                return self.scaled()
            if findings:
                return self.refused(findings, sample)
        return self.answer(sample)

    def whole(self) -> Rows:
        """Execute every workgroup and compare every element, by granules of the independent dims."""
        execution = self._executed(self.built, self.judge.patience.deadline_s, has_masks=True)
        if execution.findings:
            return self.refused(execution.findings, self.nothing())
        return self._compared(execution, has_masks=True)

    def whole_by(self, plain: Built, deadline_s: float) -> Rows | None:
        """Do so by a program without checks, or with them where that does not end well; None where time is up."""
        for built in (plain, self.built):
            has_masks = built is not plain
            execution = self._executed(built, deadline_s, has_masks=has_masks)
            if any(finding.kind == "timeout" for finding in execution.findings):
                return None
            if not execution.findings:
                return self._compared(execution, has_masks=has_masks)
        return self.refused(execution.findings, self.nothing())

    def _executed(self, built: Built, deadline_s: float, *, has_masks: bool) -> Execution:
        buffers = (*self.inputs.buffers, *written_buffers(self.judge.task, self.case, self.plan))
        request = ExecutionRequest(
            built.program,
            self.plan,
            buffers,
            deadline_s,
            exact=self.judge.exact,
            shuffled=True,
            masks=has_masks,
            probes=False,
        )
        return self.judge.noted(self.judge.lab.execute(request))

    def _compared(self, execution: Execution, *, has_masks: bool) -> Rows:
        findings, worst = list[Finding](), 0.0
        for spec in self.judge.task.outputs:
            shape = self.judge.task.shape_of(spec, self.case)
            if has_masks:
                findings += coverage(spec, spec.unflatten(execution.masks[spec.name], shape), self.case)
            output = spec.unflatten(execution.outputs[spec.name], shape)
            error, wrong = self.compared.whole(spec, output) if not findings else (0.0, ())
            worst = max(worst, error)
            findings += wrong
        if findings:
            return self.refused(tuple(findings), replace(self.nothing(), error=worst))
        total = sum(math.prod(launch.grid) for launch in self.plan.launches)
        return CaseResult(self.case.name, self.case.role, True, worst, workgroups=total, drawn=total, grid=total), ()

    def _more(self, sample: Drawn) -> int:
        accesses_each = sample.accesses / max(1, len(sample.elements_written))
        return max(FEWEST, min(MOST, int(AFFORDABLE / max(1.0, accesses_each)))) - len(sample.elements_written)

    def sampled(self, sample: Drawn, count: int, edges: int) -> tuple[Finding, ...] | None:
        """Execute and compare workgroups that were not yet; None where they do not own what they write."""
        numbers = drawn(self.launch.grid, count, edges, self.rng, frozenset(sample.elements_written))
        sample.drawn += numbers[:count]
        return self._sampled(sample, numbers)

    def _sampled(self, sample: Drawn, numbers: Sequence[int]) -> tuple[Finding, ...] | None:
        for start in range(0, len(numbers), BATCH):
            batch = numbers[start : start + BATCH]
            execution = self._execute(batch, sample)
            if not execution.ownership_valid or execution.is_waiting:  # for a workgroup that is none of these
                return None
            if execution.findings:
                return tuple(execution.findings)
            sample.accesses += execution.accesses
            sample.seconds += sum(execution.launch_cpu_s)
            for i, number in enumerate(batch):
                pieces = {s.name: execution.pieces[_own(s.name, i)] for s in self.judge.task.outputs}
                sample.add(number, pieces)
                error, findings = self.compared.pieces(pieces)
                sample.error = max(sample.error, error)
                if findings:
                    return findings
        return ()

    def _execute(self, numbers: Sequence[int], sample: Drawn) -> Execution:
        """Each workgroup as a launch of its own, with outputs of its own."""
        names = {spec.name for spec in self.judge.task.outputs}
        outputs = written_buffers(self.judge.task, self.case, self.plan)
        launches, buffers = list[ResolvedLaunch](), list[Buffer](self.inputs.buffers)
        each_s = sample.seconds / max(1, len(sample.elements_written))
        for i in range(len(numbers)):
            output_names = {name: _own(name, i) for name in names}
            arguments = tuple(
                a.renamed(output_names) if isinstance(a, BufferArg | StructArg) else a for a in self.launch.args
            )
            launches.append(replace(self.launch, args=arguments))
            buffers += [replace(buffer, name=_own(buffer.name, i)) for buffer in outputs]
        return self.judge.lab.execute(
            ExecutionRequest(
                self.built.program,
                ResolvedPlan(tuple(launches), {}),
                buffers,
                self._patience_s + SLACK * each_s * len(numbers),
                workgroups=tuple((number,) for number in numbers),
                pieces=True,
                exact=self.judge.exact,
                shuffled=True,
            )
        )

    def answer(self, sample: Drawn) -> Rows:
        """Give the row of a sample without findings; where it leaves a question, what settles that."""
        rows = self.inner(sample) if sample.is_missing(self.elements) else None
        if rows is not None:
            return rows
        return self._settled(sample) if sample.leaves_a_question(self.elements) else (self.row(sample), ())

    def inner(self, sample: Drawn) -> Rows | None:
        """Add workgroups to a sample that lies at the ends only, where tiles may be cut; their answer, if any."""
        findings = self.sampled(sample, INNER, 0) if sample.is_at_ends else ()
        if findings is None:
            return self.scaled()
        return self.refused(findings, sample) if findings else None

    def nothing(self) -> Drawn:
        """Begin a sample without workgroups."""
        return Drawn.of(self.judge.task, self.case, self.launch.grid)

    def _settled(self, sample: Drawn) -> Rows:
        """Answer the question: by the whole case where it is affordable, else by the share of many workgroups."""
        total, is_missing = math.prod(self.launch.grid), sample.is_missing(self.elements)
        accesses_each = max(1.0, sample.accesses / len(sample.elements_written))
        if is_missing and total * accesses_each <= WHOLE:
            self.judge.moving.clear()
            rows = self.whole()
            if not self.judge.moving:
                return rows  # else its deadline came while one workgroup ended after the other, as on a busy machine
        count = ENOUGH if is_missing else min(ENOUGH, max(OWNERS, int(FEW / accesses_each)))
        findings = self.sampled(sample, max(0, count - len(sample.drawn)), 0)
        findings = findings or (findings if findings is None else self._sampled(sample, sample.rivals))
        if findings is None:
            return self.scaled()
        if not findings:
            elements = np.array([sample.elements_written[number] for number in sample.drawn], float)
            share = float(elements.mean()) * total / self.elements
            doubt = SURE * float(elements.std()) / math.sqrt(elements.size) * total / self.elements
            if is_missing and share + doubt < LESS:
                reason = (
                    f"{elements.size} workgroups from anywhere in the grid wrote {share:.1%} of what all of them must"
                )
                findings = (self._unwritten(reason),)
            elif sample.shared >= TWICE and share < 2 - LESS:  # no more is written than needed, and some of it twice
                reason = f"of {len(sample.elements_written)} workgroups {sample.shared} write where another one does"
                findings = (self._unwritten(reason, self._line(sample.twin)),)
        return self.refused(findings, sample) if findings else (self.row(sample), ())

    def _unwritten(self, reason: str, line: int | None = None) -> Finding:
        message, name = f"{reason}: parts of the output are never written", self.judge.task.outputs[0].name
        return Finding("unwritten_output", message, line, case=self.case.name, buffer=name)

    def _line(self, number: int) -> int | None:
        """Find the line that a workgroup writes by: of outputs of one element, nearly all is written beyond them."""
        outputs = written_buffers(self.judge.task, self.case, self.plan)
        buffers = (*self.inputs.buffers, *(replace(b, data=np.empty(1, b.data.dtype)) for b in outputs))
        request = ExecutionRequest(self.built.program, self.plan, buffers, self._patience_s)
        execution = self.judge.lab.execute(replace(request, workgroups=((number,),), pieces=True))
        return next((finding.line for finding in execution.findings), None)

    def scaled(self) -> Rows:
        """Execute the case whole where it is affordable, else shortened until it is."""
        return shortened(self.judge, lambda judge, limit: replace(self, judge=judge)._shortened(limit))

    def _shortened(self, limit: float) -> Rows:
        return self.whole() if cost(self.judge.task, self.case.dims) <= limit else self._at_most(limit)

    def _at_most(self, limit: float) -> Rows:
        secret = scaled(self.judge.task, replace(self.case, seed=self.inputs.seed), limit)
        row, findings = self.judge.run(secret, self.inputs.variant)
        return replace(row, stands_for=self.case.name), findings

    def refused(self, findings: Sequence[Finding], sample: Drawn) -> Rows:
        """Give the row of a case that failed, with its findings."""
        findings_of_case = tuple(replace(finding, case=self.case.name) for finding in findings)
        return replace(self.row(sample), correct=False, message=findings_of_case[0].message), findings_of_case

    def row(self, sample: Drawn) -> CaseResult:
        """Give the row of a sample without findings."""
        count, total = len(sample.elements_written), math.prod(self.launch.grid)
        row = CaseResult(self.case.name, self.case.role, True, sample.error, drawn=len(sample.drawn), grid=total)
        compared = sum(sample.elements_written.values()) / max(1, self.elements)
        return replace(row, executed=count / total, compared=compared, workgroups=count)


def _own(name: str, number: int) -> str:
    """Name the output that only one workgroup of a sample writes."""
    return f"{name}#{number}"
