"""Benchmark cases compared with the reference: what is timed must be right, too.

A few secretly drawn workgroups of each case are executed, each into outputs of its own, so that it is known which of
them wrote what. All they wrote is compared, and what they left out is a question: a workgroup that writes nothing, or
less than the others, leads to the execution of the whole case, or of many more workgroups where that costs too much.
Plans of several launches and plans with workspaces pass values from workgroup to workgroup, so they are executed whole,
or on the case scaled down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from records.evaluation import CaseResult, Finding
from sandbox.candidate.codes import wrong_result
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest
from sandbox.lab.lab_verify import Built, Judge, Rows, coverage, written_buffers
from sandbox.lab.pieces import Piece
from sandbox.lab.scaled_case import scaled
from sandbox.lab.slabs import Slab, slab_of, slabs
from sandbox.lab.timed_inputs import TimedInputs
from sandbox.lab.workgroups import drawn, is_edge
from tasks.compare import compare
from tasks.held_out import SMALL, cost
from tasks.task import Case

FEWEST = 1  # workgroups of a case from anywhere in the grid, besides one at the end of each axis
MOST = 24
ENDS = 1
AFFORDABLE = 1 << 20  # accesses after which no more than the fewest are executed
ENOUGH = 459  # ln(0.01) / ln(0.99): an error in 1 % of the workgroups passes with a probability below 1 %
ENDS_OF_ENOUGH = 8
PILOT = 3  # of them to see what a whole execution takes
WHOLE_S = 30.0  # of one thread up to which a case is executed whole; or as much as `ENOUGH` workgroups take
UNCHECKED = 5  # times as fast as with checks a kernel runs without
WHOLE_WORK = 2.0**33  # operations plus bytes, for what cannot be sampled
CONFIRM_DEADLINE_S = 300.0
SAMPLE_S = 30.0  # for the first workgroups of a large case, whose cost is not known
SLACK = 4.0  # times what the first ones took, which the others may take
BATCH = 24  # workgroups of one execution: each has outputs of its own
WHOLE = 1 << 31  # accesses up to which a case in question is executed whole
SCALED = 2.0**28  # operations plus bytes of a case that is executed whole in place of one that cannot be sampled
LESS = 0.9  # of the most that a workgroup wrote: one inside the grid that wrote less left something out
SURE = 3.0  # standard errors


@dataclass
class Drawn:
    """The workgroups executed of one case so far: their numbers, elements written, accesses, seconds, worst error."""

    written: dict[int, int] = field(default_factory=dict)
    drawn: list[int] = field(default_factory=list)
    accesses: int = 0
    seconds: float = 0.0
    error: float = 0.0


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

    @cached_property
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

    def run(self) -> Rows:
        """Execute a few workgroups and compare; more, or all, where these leave a question."""
        if cost(self.judge.task, self.case.dims) <= SMALL:
            return self.whole()
        if len(self.plan.launches) > 1 or self.plan.workspaces:
            return self._scaled()
        sample = Drawn()
        for ends in (ENDS, 0):
            findings = self._sampled(sample, FEWEST if ends else max(0, self._more(sample)), ends)
            if findings is None:
                return self._scaled()
            if findings:
                return self._refused(findings, sample)
        if self._leaves_a_question(sample):
            return self._settled(sample)
        return self._row(sample), ()

    def confirm(self, plain: Built | None) -> Rows:
        """Execute the case whole where that fits the budget, else `ENOUGH` workgroups; `plain` runs without checks.

        The executor's own time for a few workgroups says what the whole takes.
        """
        if cost(self.judge.task, self.case.dims) <= SMALL:
            return self.whole()
        sample = Drawn()
        if len(self.plan.launches) > 1 or self.plan.workspaces:
            findings: tuple[Finding, ...] | None = None
        else:
            findings = self._sampled(sample, PILOT, ENDS)
        if findings:
            return self._refused(findings, sample)
        total = math.prod(self.launch.grid)
        if findings is None:
            is_short = cost(self.judge.task, self.case.dims) <= WHOLE_WORK
        else:
            each_s = sample.seconds / len(sample.written)
            is_short = total * each_s / UNCHECKED <= max(WHOLE_S, ENOUGH * each_s)
        if is_short and plain is not None:
            row, found = self.whole(plain, CONFIRM_DEADLINE_S)
            if not any(finding.kind == "timeout" for finding in found):  # which a busy machine may have caused
                return row, found
        if findings is None:
            return self._scaled()
        findings = self._sampled(sample, max(0, ENOUGH - len(sample.drawn)), ENDS_OF_ENOUGH)
        if findings is None:
            return self._scaled()
        if findings:
            return self._refused(findings, sample)
        if self._leaves_a_question(sample):
            return self._settled(sample)
        return self._row(sample), ()

    def whole(self, built: Built | None = None, deadline_s: float | None = None) -> Rows:
        """Execute every workgroup and compare every element, by granules of the independent dims."""
        program, task = (built or self.built).program, self.judge.task
        buffers = (*self.inputs.buffers, *written_buffers(task, self.case, self.plan))
        limit = deadline_s or self.judge.patience.deadline_s
        done = self.judge.lab.execute(ExecutionRequest(program, self.plan, buffers, limit, exact=self.judge.exact))
        if done.findings:
            return self._refused(done.findings, Drawn())
        findings, worst = list[Finding](), 0.0
        for spec in task.outputs:
            shape = task.shape_of(spec, self.case)
            if built is None:
                findings += coverage(spec, spec.unflatten(done.written[spec.name], shape), done, self.case)
            output = spec.unflatten(done.outputs[spec.name], shape)
            for slab in slabs(self.inputs, spec, shape) if not findings else ():
                error, found = self._compare(slab, slab.cut(output), None)
                worst = max(worst, error)
                findings += found
                if found:
                    break
        if findings:
            return self._refused(tuple(findings), Drawn(error=worst))
        total = sum(math.prod(launch.grid) for launch in self.plan.launches)
        return CaseResult(self.case.name, "benchmark", True, worst, workgroups=total, drawn=total, grid=total), ()

    def _more(self, sample: Drawn) -> int:
        each = sample.accesses / max(1, len(sample.written))
        return max(FEWEST + ENDS, min(MOST, int(AFFORDABLE / max(1.0, each)))) - len(sample.written)

    def _sampled(self, sample: Drawn, count: int, edges: int) -> tuple[Finding, ...] | None:
        """Execute and compare workgroups that were not yet; None where they do not own what they write."""
        numbers = drawn(self.launch.grid, count, edges, self.rng, frozenset(sample.written))
        sample.drawn += numbers[:count]
        for at in range(0, len(numbers), BATCH):
            batch = numbers[at : at + BATCH]
            done = self._execute(batch, sample)
            if not done.ownership_valid:
                return None
            if done.findings:
                return tuple(done.findings)
            sample.accesses += done.accesses
            sample.seconds += sum(done.launch_seconds)
            for i, number in enumerate(batch):
                pieces = {s.name: done.pieces[_own(s.name, i)] for s in self.judge.task.outputs}
                sample.written[number] = sum(piece.places.size for piece in pieces.values())
                error, findings = self._compare_pieces(pieces)
                sample.error = max(sample.error, error)
                if findings:
                    return findings
        return ()

    def _execute(self, numbers: Sequence[int], sample: Drawn) -> Execution:
        """Each workgroup as a launch of its own, with outputs of its own."""
        names = {spec.name for spec in self.judge.task.outputs}
        outputs = written_buffers(self.judge.task, self.case, self.plan)
        launches, buffers = list[ResolvedLaunch](), list[Buffer](self.inputs.buffers)
        each_s = sample.seconds / max(1, len(sample.written))
        for i in range(len(numbers)):
            arguments = tuple(
                BufferArg(_own(a.name, i)) if isinstance(a, BufferArg) and a.name in names else a
                for a in self.launch.args
            )
            launches.append(replace(self.launch, args=arguments))
            buffers += [replace(buffer, name=_own(buffer.name, i)) for buffer in outputs]
        return self.judge.lab.execute(
            ExecutionRequest(
                self.built.program,
                ResolvedPlan(tuple(launches), {}),
                buffers,
                max(self.judge.patience.deadline_s, SAMPLE_S) + SLACK * each_s * len(numbers),
                workgroups=tuple((number,) for number in numbers),
                pieces=True,
                exact=self.judge.exact,
            )
        )

    def _compare_pieces(self, pieces: Mapping[str, Piece]) -> tuple[float, tuple[Finding, ...]]:
        worst = 0.0
        for spec in self.judge.task.outputs:
            piece = pieces[spec.name]
            if not piece.places.size:
                continue
            shape = self.judge.task.shape_of(spec, self.case)
            slab, values, mask = slab_of(self.inputs, spec, shape, piece)
            error, findings = self._compare(slab, values, mask)
            worst = max(worst, error)
            if findings:
                return worst, tuple(findings)
        return worst, ()

    def _compare(self, slab: Slab, values: np.ndarray, mask: np.ndarray | None) -> tuple[float, list[Finding]]:
        found = compare(values, slab.reference, slab.baseline, self.judge.task.tolerance, mask=mask)
        return found.error, [] if found.correct else [wrong_result(slab.spec.name, found, self.case.name)]

    def _leaves_a_question(self, sample: Drawn) -> bool:
        """True where a workgroup wrote less than its share, or all of them less than the whole output needs."""
        most, grid = max(sample.written.values()), self.launch.grid
        if most * math.prod(grid) < LESS * self.elements:
            return True
        return any(
            written == 0 or (written < LESS * most and not is_edge(number, grid))
            for number, written in sample.written.items()
        )

    def _settled(self, sample: Drawn) -> Rows:
        """The answer to the question: the whole case where it is affordable, else the share of many workgroups."""
        total = math.prod(self.launch.grid)
        if total * sample.accesses / len(sample.written) <= WHOLE:
            return self.whole()
        findings = self._sampled(sample, max(0, ENOUGH - len(sample.drawn)), 0)
        if findings is None:
            return self._scaled()
        if findings:
            return self._refused(findings, sample)
        written = np.array([sample.written[number] for number in sample.drawn], float)
        share = float(written.mean()) * total / self.elements
        doubt = SURE * float(written.std()) / math.sqrt(written.size) * total / self.elements
        if share + doubt < LESS:
            finding = Finding(
                "unwritten_output",
                f"{written.size} workgroups from anywhere in the grid wrote {share:.1%} of what all of them must: "
                "parts of the output are never written",
                case=self.case.name,
                buffer=self.judge.task.outputs[0].name,
            )
            return self._refused((finding,), sample)
        return self._row(sample), ()

    def _scaled(self) -> Rows:
        """The case whole where it is affordable; else with all its dims shortened until it is."""
        if cost(self.judge.task, self.case.dims) <= SCALED:
            return self.whole()
        return self.judge.run(scaled(self.judge.task, self.case, SCALED))

    def _refused(self, findings: Sequence[Finding], sample: Drawn) -> Rows:
        said = tuple(replace(finding, case=self.case.name) for finding in findings)
        return replace(self._row(sample), correct=False, message=said[0].message), said

    def _row(self, sample: Drawn) -> CaseResult:
        total = math.prod(self.launch.grid)
        return CaseResult(
            self.case.name,
            "benchmark",
            True,
            sample.error,
            executed=len(sample.written) / total,
            compared=sum(sample.written.values()) / max(1, self.elements),
            workgroups=len(sample.written),
            drawn=len(sample.drawn),
            grid=total,
        )


def _own(name: str, number: int) -> str:
    """The name of the output that only one workgroup of a sample writes."""
    return f"{name}#{number}"
