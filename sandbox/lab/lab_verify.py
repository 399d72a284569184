"""Runs one candidate on whole cases and compares with the float64 reference, which its process never sees.

Cases too large for that are in listed_case.py and timed_cases.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

import numpy as np

from records.evaluation import CaseResult, Finding, OneSided
from sandbox.amdgcn.compiler import Compilation
from sandbox.candidate.codes import wrong_result
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.cases.inputs.more_outputs import has_few, more_outputs
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest, Lab, LabProgram, Order
from sandbox.lab.listed_values import ListedValues, Values
from tasks.compare import compare
from tasks.dtypes import numpy_dtype
from tasks.own_check import own_check
from tasks.task import Array, Case, Task, TensorSpec

ORDERED_S = 3.0  # for an execution that may come to no end
# A test case with atomic operations is executed again in so many orders of waves and workgroups, or for so long: after
# that many seconds of processor time no further one begins.
EXPLORED, EXPLORED_S = 8, 0.2
EXPLORING: Order = "exploring"
Rows = tuple[CaseResult, tuple[Finding, ...]]


@dataclass(frozen=True)
class Patience:
    """Limits of the execution of a case: the amount before sampling, and the deadline."""

    accesses: int = 400_000_000  # memory accesses of one listed case above which workgroups are sampled
    deadline_s: float = 15.0  # for one case
    confirm_s: float = 120.0  # of processor time for all benchmark cases of a kernel that leads
    whole_s: float = 30.0  # of one thread up to which such a case is executed whole
    tried_s: float = 2.0  # for which it is tried whole where a few workgroups leave that in doubt
    searched_s: float = 4.0  # of processor time after which no further input is made for a candidate
    cases: float = 12.0  # deadlines of one case that the executions of all cases together may take

    @property
    def is_longer(self) -> bool:
        """True where more than the usual time was asked for."""
        return self.tried_s > Patience.tried_s

    @property
    def total_s(self) -> float:
        """Processor time of all executions of one verification."""
        return self.cases * self.deadline_s


EXACT = Patience(accesses=4_000_000, deadline_s=60.0)  # exact matrix instructions take some 40 times as long


def patience_for(exact: bool = False, whole_s: float = 0.0) -> Patience:
    """Give the usual limits; with `whole_s` seconds for all benchmark cases, each of which may take its part."""
    usual = EXACT if exact else Patience()
    return replace(usual, confirm_s=whole_s, whole_s=whole_s, tried_s=whole_s) if whole_s else usual


@dataclass(frozen=True)
class Built:
    """A candidate that compiled, ready to be executed."""

    prepared: Prepared
    compilation: Compilation
    program: LabProgram


@dataclass(frozen=True)
class Judge:
    """Compares one program of the lab with its task's reference, all of both."""

    lab: Lab
    built: Built
    patience: Patience = Patience()
    exact: bool = False  # matrix instructions round as the hardware does; slower
    listed: ListedValues | None = None  # that candidates before it have left
    slow: set[str] = field(default_factory=set, compare=False)  # plans that were cut between launches of like length
    moving: set[str] = field(default_factory=set, compare=False)  # that were cut among workgroups of which none hung
    waiting: set[str] = field(default_factory=set, compare=False)  # they come to no end from the last one on

    @property
    def task(self) -> Task:
        """The task whose reference decides."""
        return self.built.prepared.task

    @property
    def one_sided(self) -> tuple[OneSided, ...]:
        """The comparisons of the candidate that had one outcome so far."""
        return self.lab.outcomes.one_sided(self.built.program, self.built.prepared.candidate.source)

    def alone(self) -> Judge:
        """Make the same judge, whose notes of how a case's deadline came are those of one case."""
        return replace(self, slow=set(), moving=set())

    def within(self, share: float) -> Judge:
        """Make the same judge with a part of the deadline."""
        return replace(self, patience=replace(self.patience, deadline_s=share * self.patience.deadline_s))

    def run(self, case: Case, variant: str | None = None) -> Rows:
        """Execute and compare one case; findings are empty when it is right."""
        values = (self.listed or ListedValues(self.task)).of(case, variant)
        plan = self.built.prepared.plan(case)
        buffers = task_buffers(self.task, case, plan, values.drawn)
        # A test case keeps one order of waves, so that the same fault is told the same way each time.
        is_drawn = variant is not None or case.role != "test"
        execution = self._execute(plan, buffers, shuffled=is_drawn, probes=not is_drawn)
        name = case.name if variant is None else f"{case.name} [{variant}]"
        if execution.findings:
            findings = tuple(replace(f, case=name) for f in execution.findings)
            return CaseResult(
                name, case.role, correct=False, executed=execution.executed, compared=0.0, message=findings[0].message
            ), findings
        row, findings = self._compare(execution, values, replace(case, name=name))
        is_alone = not execution.updated or max(prod(launch.grid) for launch in plan.launches) < 2
        orders: tuple[Order, ...] = (EXPLORING,) * EXPLORED if not is_drawn and execution.is_atomic else ()
        if case.role != "test" and not is_alone and self.built.program.path not in self.waiting:
            orders = ("backwards",)
        begun_s = self.lab.cpu_here_s
        for order in orders if not findings else ():
            if order == EXPLORING and self.lab.cpu_here_s > begun_s + EXPLORED_S:
                break
            other = self._ordered(order, plan, buffers, values, replace(case, name=name))
            if other and other[1]:
                return other
        return row, findings

    def _ordered(
        self, order: Order, plan: ResolvedPlan, buffers: tuple[Buffer, ...], values: Values, case: Case
    ) -> Rows | None:
        """Execute and compare in another order of workgroups and waves; None where one waits for another."""
        program = replace(self.built.program, lanes_meet=self.built.program.lanes_meet and order != EXPLORING)
        request = ExecutionRequest(
            program, plan, buffers, ORDERED_S, exact=self.exact, shuffled=True, order=order, probes=False
        )
        execution = self.lab.execute(request)
        if any(finding.kind == "timeout" for finding in execution.findings):
            if order == "backwards":
                self.waiting.add(program.path)  # that they are begun in turn is what every GPU does
            return None
        findings = tuple(replace(finding, case=case.name) for finding in execution.findings)
        if findings:
            return CaseResult(case.name, case.role, correct=False, compared=0.0, message=findings[0].message), findings
        return self._compare(execution, values, case)

    def _execute(self, plan: ResolvedPlan, buffers: tuple[Buffer, ...], *, shuffled: bool, probes: bool) -> Execution:
        deadline_s = self.patience.deadline_s
        request = ExecutionRequest(
            self.built.program, plan, buffers, deadline_s, exact=self.exact, shuffled=shuffled, probes=probes
        )
        return self.noted(self.lab.execute(request))

    def noted(self, execution: Execution) -> Execution:
        """Remember the program where the execution was slow and no launch or workgroup seemed to hang; return it."""
        if execution.is_slow:
            self.slow.add(self.built.program.path)
        if execution.is_moving:
            self.moving.add(self.built.program.path)
        return execution

    def _compare(self, execution: Execution, values: Values, case: Case) -> Rows:
        reference, baseline = values.reference, values.baseline
        findings: list[Finding] = []
        worst, compared, elements = 0.0, 0, 0
        outputs: dict[str, Array] = {}
        for spec in self.task.outputs:
            shape = self.task.shape_of(spec, case)
            outputs[spec.name] = spec.unflatten(execution.outputs[spec.name], shape)
            is_written = spec.unflatten(execution.masks[spec.name], shape)
            elements += is_written.size
            compared += int(is_written.sum())
            findings += coverage(spec, is_written, case)
            tolerance = values.families.tolerance(spec, values.variant)
            pair = outputs[spec.name], reference[spec.name], baseline[spec.name], tolerance
            admitted = partial(values.admission.of, spec, tolerance.ratio)
            verdict = compare(*pair, admitted=admitted)
            if not verdict.correct and has_few(case, is_written.size):
                beside = more_outputs(values.families, values.case, values.variant, spec.name)
                verdict = compare(*pair, beside=beside, admitted=admitted)
            worst = max(worst, verdict.error)
            if not verdict.correct and not findings:
                findings.append(wrong_result(spec.name, verdict, case.name))
        if not findings and self.task.check is not None:
            refused = own_check(self.task, values.inputs, outputs, baseline, case)
            findings += [Finding("wrong_result", refused, case=case.name)] if refused else []
        return CaseResult(
            case.name,
            case.role,
            correct=not findings,
            error=worst,
            executed=execution.executed,
            compared=compared / max(1, elements),
            message=findings[0].message if findings else "",
        ), tuple(findings)


def coverage(spec: TensorSpec, is_written: Array, case: Case) -> list[Finding]:
    """Report elements that were never written, although all workgroups ran; none where all were."""
    total, count = is_written.size, int(is_written.sum())
    if count == total:
        return []
    first = tuple(int(i) for i in np.unravel_index(int(np.argmin(is_written)), is_written.shape))
    return [
        Finding(
            "unwritten_output",
            f"{total - count} of {total} elements of {spec.name} are never written; "
            f"the first is {spec.name}{list(first)}: launch enough work-items or fix the guard",
            case=case.name,
            buffer=spec.name,
        )
    ]


def task_buffers(task: Task, case: Case, plan: ResolvedPlan, inputs: Mapping[str, Array]) -> tuple[Buffer, ...]:
    """Lay out every buffer of a launch as flat memory in the task's layout; inputs are filled, the others are not."""
    flat = {
        s.name: task.flatten(s, np.asarray(inputs[s.name], dtype=numpy_dtype(s.dtype)), case)
        for s in task.inputs_of(case)
    }
    updated = tuple(Buffer(task.initials[name], data, "inout") for name, data in flat.items() if name in task.initials)
    rows = [Buffer(name, data, "input") for name, data in flat.items() if name not in task.initials]
    return *rows, *updated, *written_buffers(task, case, plan)


def written_buffers(task: Task, case: Case, plan: ResolvedPlan) -> tuple[Buffer, ...]:
    """Make the outputs and workspaces of a launch that hold nothing before it."""
    shapes = [(s.name, s.dtype, task.shape_of(s, case), "output") for s in task.outputs if not s.initial]
    shapes += [(name, dtype, shape, "workspace") for name, (dtype, shape) in plan.workspaces.items()]
    return tuple(Buffer(name, np.empty(prod(shape), numpy_dtype(dtype)), role) for name, dtype, shape, role in shapes)
