"""The lab as a sandbox: compile for the target, execute on the CPU, compare, bound the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from records.errors import HostStarved, LabError, NoAnswer
from records.evaluation import CaseResult, Comparison, Evaluation, Finding, Verdict
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.base import SandboxBase, judged
from sandbox.candidate.codes import rejected
from sandbox.candidate.limits import check_arguments, check_limits, resources_of
from sandbox.candidate.prepare import Prepared
from sandbox.evidence import Evidence
from sandbox.lab.cases_met import CaseMet, cases_met, confirmed_whole, one_whole, refused
from sandbox.lab.controlled import Controlled, unknown_to_caches
from sandbox.lab.execution_budget import ExecutionBudget
from sandbox.lab.lab import Lab
from sandbox.lab.lab_verify import Built, Judge, Patience, patience_for
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.overlap import overlapping
from sandbox.lab.predict import predict, same_times
from sandbox.lab.searched_case import searched
from sandbox.lab.session_inputs import SessionInputs
from sandbox.recent import Recent
from sandbox.target import Target
from tasks.loader import load_task, seed_text
from tasks.task import Task

REMEMBERED = 16  # compiled candidates with their listings
ESTIMATES = 1024  # times without a program or a listing
CASES, AHEAD = 3, 4  # at once, of which one mostly draws or compares; and ready for when one of them has ended


class LabEvaluator(SandboxBase):
    """Real compilation, functional execution, a predicted time. Safe for threads."""

    def __init__(
        self,
        toolchain: Toolchain,
        cache: Path,
        target: Target,
        seed: int,
        cores: int | None = None,
        *,
        patience: Patience | None = None,
        exact: bool = False,
        evidence: Evidence | None = None,
    ) -> None:
        """`seed` drives the held-out inputs; `cores` limits the lab's threads; `patience` says when to give up.

        `exact`: matrix instructions round as the hardware does, which takes longer. `evidence` keeps all files.
        """
        self.target = target
        self.device = f"lab:{target.name}"
        self.version = toolchain.version
        self.isolation = toolchain.cage.level
        self.policy = (seed, *(["exact"] if exact else []))
        self._seed = seed
        self._exact = exact
        self._patience = patience or patience_for(exact)
        self._compiler = Compiler(toolchain, cache, target, evidence)
        self._lab: Lab = MachineLab(toolchain, cache, target, cores, evidence)
        self._cache = cache.resolve()
        self._inputs: SessionInputs | None = None
        self._built: Recent[str, tuple[Evaluation, Built | None]] = Recent(REMEMBERED)
        self._compilations: Recent[str, tuple[Evaluation, Compilation | None]] = Recent(REMEMBERED)
        self._listings: Recent[str, tuple[Evaluation, Compilation | None]] = Recent(REMEMBERED)
        self._verified: Recent[str, Evaluation] = Recent(REMEMBERED)
        self._estimates: Recent[str, Evaluation] = Recent(ESTIMATES)
        self._turn = threading.Lock()  # the lab uses every core for one candidate; two at once only slow each other

    def warm(self, progress: Callable[[str], None]) -> None:
        """Build what every candidate needs, so that the first one does not wait for it."""
        progress("building the interpreter of gfx942 code and precompiled headers")
        self._compiler.warm()
        self._lab.warm()

    @property
    def executors_s(self) -> float:
        """Processor time of all executions so far."""
        return self._lab.cpu_s

    def compile(self, prepared: Prepared) -> Evaluation:
        """Compile for the GPU and for the lab; accepted means that neither they nor the plan's checks object."""
        started = time.monotonic()
        evaluation = self._tried(prepared, lambda each: self._build(each)[0])
        return replace(evaluation, seconds=time.monotonic() - started)

    def verify(self, prepared: Prepared) -> Evaluation:
        """Execute and compare the test cases, then the held-out ones; stops at the first case that fails."""
        with self._alone():
            return self._verified.get(self.key(prepared), lambda: self._tried(prepared, self._judge))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Execute with every core."""
        with self._turn, self._lab.many_executions():
            yield

    def _tried(self, prepared: Prepared, step: Callable[[Prepared], Evaluation]) -> Evaluation:
        """The step's answer; where only this candidate leaves it without one, a rejection."""
        try:
            return step(prepared)
        except (NoAnswer, HostStarved) as fault:
            controlled = Controlled(lambda: self._control(prepared.task))
            return controlled.after(fault, lambda: self._begun(prepared), lambda: step(prepared))

    def _control(self, task: Task) -> None:
        """The task's own seed, or that of a shipped one, as if it were new; LabError when it is not accepted either."""
        task = task if task.seeds else load_task("row_softmax", self.target.name)
        made = self._judge(self.prepare(unknown_to_caches(seed_text(task.seeds[0])), task))
        if not made.verdict.accepted:
            raise LabError("the lab does not accept the task's own seed; run kernel-scientist doctor")

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Verify, then predict the benchmark times."""
        verified = self.verify(prepared)
        if not verified.verdict.accepted:
            return verified
        timed = self._timed(prepared)
        seconds = verified.seconds + timed.seconds
        return replace(timed, cases=verified.cases, one_sided=verified.one_sided, seconds=seconds)

    def estimate(self, prepared: Prepared) -> Evaluation:
        """Compile and predict without verifying: for ranking tunables only.

        A candidate whose listing and launches are those of an earlier one, line by line, takes that one's times.
        """
        started = time.monotonic()
        return replace(self._tried(prepared, self._estimated), seconds=time.monotonic() - started)

    def _estimated(self, prepared: Prepared) -> Evaluation:
        begun, compilation = self._compile_to_rank(prepared)
        if compilation is None:
            return begun
        found = self._estimates.get(same_times(prepared, compilation), lambda: self._ranked(prepared))
        if not found.verdict.accepted and found.key != begun.key:
            found = self._ranked(prepared)  # another's faults are not its own
        return replace(found, key=begun.key, candidate_id=begun.candidate_id, tunables=begun.tunables)

    def _timed(self, prepared: Prepared) -> Evaluation:
        inputs = self._inputs_of(prepared.task)
        return self._tried(prepared, lambda each: self._forecast(*self._build(each), inputs))

    def _ranked(self, prepared: Prepared) -> Evaluation:
        return self._forecast(*self._build_to_rank(prepared))

    def _forecast(self, evaluation: Evaluation, built: Built | None, inputs: SessionInputs | None = None) -> Evaluation:
        started = time.monotonic()
        if built is None:
            return evaluation
        with self._alone():
            budget = ExecutionBudget.begin(self._lab, self._patience.total_s)
            drawn = None if inputs is None else lambda case: inputs.of(case).buffers
            forecast = predict(self._lab, built, self.target, evaluation.resources, budget, drawn, self._seed)
        if forecast.findings:
            return replace(evaluation, verdict=rejected("time", forecast.findings), seconds=time.monotonic() - started)
        return replace(
            evaluation,
            verdict=Verdict("time", True, "OK"),
            measurements=forecast.measurements,
            counters=forecast.counters,
            explanation=forecast.explanation,
            kernel_counters=forecast.kernel_counters,
            hot_lines=forecast.hot_lines,
            seconds=time.monotonic() - started,
        )

    def confirm(self, prepared: Prepared) -> Evaluation:
        """Verify, then execute each benchmark case whole where that fits the budget, else many of its workgroups."""
        verified = self.verify(prepared)
        built = self._build(prepared)[1]
        if built is None or not verified.verdict.accepted:
            return verified
        started = time.monotonic()
        with self._alone():
            made = self._tried(prepared, partial(self._confirm, verified, built))
        return replace(made, seconds=verified.seconds + time.monotonic() - started)

    def _confirm(self, verified: Evaluation, built: Built, prepared: Prepared) -> Evaluation:
        judge, inputs = Judge(self._lab, built, self._patience, self._exact), self._inputs_of(prepared.task)
        rows, findings = confirmed_whole(judge, self._plain(built), inputs)
        made = {row.name for row in rows}
        rows = [*(row for row in verified.cases if row.role != "benchmark" and row.name not in made), *rows]
        return replace(
            verified, verdict=self._verdict(built, findings) if findings else verified.verdict, cases=tuple(rows)
        )

    def _plain(self, built: Built) -> Built:
        """The same, executed without checks."""
        return replace(built, program=replace(built.program, is_checked=False))

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Never asked for: predicted times have no noise and are compared as they are."""
        raise LabError("the lab predicts times and cannot time two kernels in turns; please report this")

    def _build(self, prepared: Prepared) -> tuple[Evaluation, Built | None]:
        """The steps before execution, done once for a candidate; nothing is built when it does not get that far."""
        key = self.key(prepared)
        return self._built.known(key) or self._built.keep(key, self._compiled(prepared))

    def _build_to_rank(self, prepared: Prepared) -> tuple[Evaluation, Built | None]:
        """As `_build`, without what only a verdict needs; never kept where a verdict would find it."""
        known = self._built.known(self.key(prepared))
        return known or self._decoded(prepared, *self._compile_to_rank(prepared))

    def _judge(self, prepared: Prepared) -> Evaluation:
        started = time.monotonic()
        evaluation, built = self._build(prepared)
        made = evaluation if built is None else self._execute(evaluation, built)
        return replace(made, seconds=time.monotonic() - started)

    def _compile(self, prepared: Prepared) -> tuple[Evaluation, Compilation | None]:
        """Compile for the GPU alone; no compilation where it or the plan's checks object."""
        key = self.key(prepared)
        return self._compilations.known(key) or self._compilations.keep(key, self._on_target(prepared))

    def _compile_to_rank(self, prepared: Prepared) -> tuple[Evaluation, Compilation | None]:
        """As `_compile`, without a code object where none is known: a time is predicted from the listing."""
        key = self.key(prepared)
        if known := self._compilations.known(key) or self._listings.known(key):
            return known
        return self._listings.keep(key, self._on_target(prepared, is_assembled=False))

    def _on_target(self, prepared: Prepared, *, is_assembled: bool = True) -> tuple[Evaluation, Compilation | None]:
        evaluation = self._begun(prepared)
        if prepared.refusal is not None:
            return evaluation, None
        compilation = self._compiler.compile(prepared.candidate, prepared.tunables, is_assembled=is_assembled)
        evaluation = replace(
            evaluation,
            resources=resources_of(compilation.kernels, self.target, prepared.plans),
            code_object=compilation.code_object,
        )
        if findings := compilation.findings if not compilation.ok else self._mismatches(compilation, prepared):
            return replace(evaluation, verdict=rejected("compile", findings)), None
        return evaluation, compilation

    def _compiled(self, prepared: Prepared) -> tuple[Evaluation, Built | None]:
        return self._decoded(prepared, *self._compile(prepared))

    def _decoded(
        self, prepared: Prepared, evaluation: Evaluation, compilation: Compilation | None
    ) -> tuple[Evaluation, Built | None]:
        if compilation is None:
            return evaluation, None
        program = self._lab.decoded(prepared.candidate, prepared.tunables, compilation)
        if isinstance(program, tuple):
            return replace(evaluation, verdict=rejected("compile", program)), None
        return evaluation, Built(prepared, compilation, program)

    def _mismatches(self, compilation: Compilation, prepared: Prepared) -> tuple[Finding, ...]:
        """The contradictions between the code object's metadata and the plan on any listed case; each once."""
        found = [*check_arguments(prepared.plans[0], compilation.kernels)]  # which are the same on every case
        found += [f for plan in prepared.plans for f in check_limits(plan, self.target, compilation.kernels)]
        return tuple(dict.fromkeys(found))

    def _execute(self, evaluation: Evaluation, built: Built) -> Evaluation:
        inputs, rows = self._inputs_of(built.prepared.task), list[CaseResult]()
        judge = Judge(self._lab, built, self._patience, self._exact, inputs.listed)
        budget = ExecutionBudget.begin(self._lab, self._patience.total_s)

        def answer(met: CaseMet) -> tuple[CaseResult | None, tuple[Finding, ...]]:
            found = refused(built, self.target, met.case) or budget.exceeded_before(met.case.name)
            return (None, found) if found else replace(met, judge=judge.alone()).run()

        for row, findings in overlapping(cases_met(judge, inputs, self._seed), answer, CASES, AHEAD):
            rows += [row] if row else []
            if findings:
                return replace(evaluation, verdict=self._verdict(built, findings), cases=tuple(rows))
        made_for_it, findings = searched(judge, inputs)
        rows += made_for_it
        if not findings and not any(row.is_whole for row in rows):  # one element that nobody writes is in no sample
            row, findings = one_whole(judge, self._plain(built), inputs)
            rows = [row if old.name == row.name else old for old in rows]
        made = replace(evaluation, verdict=self._verdict(built, findings), cases=tuple(rows))
        return made if findings else replace(made, one_sided=judge.one_sided)

    def _verdict(self, built: Built, findings: tuple[Finding, ...]) -> Verdict:
        return judged(findings)

    def _inputs_of(self, task: Task) -> SessionInputs:
        """The inputs of the benchmarks, fresh in each process; those of one task are kept."""
        if self._inputs is None or self._inputs.task.digest != task.digest:
            self._inputs = SessionInputs(task, self._cache)
        return self._inputs
