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
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.base import SandboxBase, judged
from sandbox.candidate.codes import rejected
from sandbox.candidate.prepare import Prepared
from sandbox.evidence import Evidence
from sandbox.lab.candidate_stages import CandidateStages, ProgramStage
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
        self._candidates: Recent[str, CandidateStages] = Recent(REMEMBERED)
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
        started, candidate = time.monotonic(), self.stages(prepared)
        try:
            candidate.compiled()
            evaluation = candidate.program().evaluation
        except (NoAnswer, HostStarved) as fault:
            evaluation = self._answered(fault, candidate, lambda: candidate.program().evaluation)
        return replace(evaluation, seconds=time.monotonic() - started)

    def verify(self, prepared: Prepared) -> Evaluation:
        """Execute and compare the test cases, then the held-out ones; stops at the first case that fails."""
        with self._alone():
            candidate = self.stages(prepared)
            if candidate.verdict is None:
                candidate.verdict = self._tried(candidate, lambda: self._judge(candidate))
            return candidate.verdict

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Execute with every core."""
        with self._turn, self._lab.many_executions():
            yield

    def stages(self, prepared: Prepared) -> CandidateStages:
        """Return the candidate's stages: those of the last ones are kept."""
        key = self.key(prepared)
        stages = self._candidates.known(key)
        return stages or self._candidates.keep(
            key, CandidateStages(prepared, self._begun(prepared), self._compiler, self._lab, self.target)
        )

    def _tried(self, candidate: CandidateStages, step: Callable[[], Evaluation]) -> Evaluation:
        """Return the step's answer; where only this candidate leaves it without one, a rejection."""
        try:
            return step()
        except (NoAnswer, HostStarved) as fault:
            return self._answered(fault, candidate, step)

    def _answered(
        self, fault: NoAnswer | HostStarved, candidate: CandidateStages, step: Callable[[], Evaluation]
    ) -> Evaluation:
        """Return the answer of a step that has just ended in this fault, with a control beside it."""
        controlled = Controlled(lambda: self._control(candidate.prepared.task))
        return controlled.after(fault, lambda: candidate.begun, step)

    def _control(self, task: Task) -> None:
        """Judge the task's own seed, or a shipped one, as if it were new; LabError when it is not accepted either."""
        task = task if task.seeds else load_task("row_softmax", self.target.name)
        evaluation = self._judge(self.stages(self.prepare(unknown_to_caches(seed_text(task.seeds[0])), task)))
        if not evaluation.verdict.accepted:
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
        started, candidate = time.monotonic(), self.stages(prepared)
        evaluation = self._tried(candidate, lambda: self._estimated(candidate))
        return replace(evaluation, seconds=time.monotonic() - started)

    def _estimated(self, candidate: CandidateStages) -> Evaluation:
        compiled, prepared = candidate.compiled(is_assembled=False), candidate.prepared
        if compiled.compilation is None:
            return compiled.evaluation

        def ranked() -> Evaluation:
            return self._forecast(candidate.program(is_assembled=False))

        estimate = self._estimates.get(same_times(prepared, compiled.compilation), ranked)
        begun = candidate.begun
        if not estimate.verdict.accepted and estimate.key != begun.key:
            estimate = ranked()  # another's faults are not its own
        return replace(estimate, key=begun.key, candidate_id=begun.candidate_id, tunables=begun.tunables)

    def _timed(self, prepared: Prepared) -> Evaluation:
        inputs, candidate = self._inputs_of(prepared.task), self.stages(prepared)
        return self._tried(candidate, lambda: self._forecast(candidate.program(), inputs))

    def _forecast(self, program: ProgramStage, inputs: SessionInputs | None = None) -> Evaluation:
        started, evaluation, built = time.monotonic(), program.evaluation, program.built
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
        candidate = self.stages(prepared)
        built = candidate.program().built
        if built is None or not verified.verdict.accepted:
            return verified
        started = time.monotonic()
        with self._alone():
            confirmed = self._tried(candidate, partial(self._confirm, verified, built))
        return replace(confirmed, seconds=verified.seconds + time.monotonic() - started)

    def _confirm(self, verified: Evaluation, built: Built) -> Evaluation:
        judge, inputs = Judge(self._lab, built, self._patience, self._exact), self._inputs_of(built.prepared.task)
        rows, findings = confirmed_whole(judge, self._plain(built), inputs)
        confirmed_names = {row.name for row in rows}
        rows = [*(row for row in verified.cases if row.role != "benchmark" and row.name not in confirmed_names), *rows]
        return replace(verified, verdict=judged(findings) if findings else verified.verdict, cases=tuple(rows))

    def _plain(self, built: Built) -> Built:
        """Make the same program without checks."""
        return replace(built, program=replace(built.program, is_checked=False))

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Never asked for: predicted times have no noise and are compared as they are."""
        raise LabError("the lab predicts times and cannot time two kernels in turns; please report this")

    def _judge(self, candidate: CandidateStages) -> Evaluation:
        started = time.monotonic()
        program = candidate.program()
        verdict = program.evaluation if program.built is None else self._execute(program.evaluation, program.built)
        return replace(verdict, seconds=time.monotonic() - started)

    def _execute(self, evaluation: Evaluation, built: Built) -> Evaluation:
        inputs, rows = self._inputs_of(built.prepared.task), list[CaseResult]()
        judge = Judge(self._lab, built, self._patience, self._exact, inputs.listed)
        budget = ExecutionBudget.begin(self._lab, self._patience.total_s)

        def answer(met: CaseMet) -> tuple[CaseResult | None, tuple[Finding, ...]]:
            findings = refused(built, self.target, met.case) or budget.exceeded_before(met.case.name)
            return (None, findings) if findings else replace(met, judge=judge.alone()).run()

        for row, findings in overlapping(cases_met(judge, inputs, self._seed), answer, CASES, AHEAD):
            rows += [row] if row else []
            if findings:
                return replace(evaluation, verdict=judged(findings), cases=tuple(rows))
        searched_rows, findings = searched(judge, inputs)
        rows += searched_rows
        if not findings and not any(row.is_whole for row in rows):  # one element that nobody writes is in no sample
            row, findings = one_whole(judge, self._plain(built), inputs)
            rows = [row if old.name == row.name else old for old in rows]
        judgement = replace(evaluation, verdict=judged(findings), cases=tuple(rows))
        return judgement if findings else replace(judgement, one_sided=judge.one_sided)

    def _inputs_of(self, task: Task) -> SessionInputs:
        """Make the inputs of the benchmarks, fresh in each process; those of one task are kept."""
        if self._inputs is None or self._inputs.task.digest != task.digest:
            self._inputs = SessionInputs(task, self._cache)
        return self._inputs
