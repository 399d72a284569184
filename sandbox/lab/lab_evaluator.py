"""Source in, evaluation out: parse, compile for the target, execute in the lab, compare, bound the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from records.errors import LabError, PlanError
from records.evaluation import CaseResult, Comparison, Contender, Evaluation, Finding, Stage, Verdict
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.base import RESULTS, SandboxBase
from sandbox.candidate.codes import rejected
from sandbox.candidate.limits import check_arguments, check_limits, resources_of
from sandbox.candidate.plan import Candidate
from sandbox.candidate.prepare import read
from sandbox.candidate.resolve import ResolvedPlan, resolve
from sandbox.evidence import Evidence
from sandbox.lab.lab import Lab, LabProgram
from sandbox.lab.lab_verify import EXACT, Judge, Patience
from sandbox.lab.predict import predict
from sandbox.target import Target
from tasks.held_out import held_out_cases
from tasks.task import Case, Task


@dataclass(frozen=True)
class Built:
    """A candidate that compiled, ready to be executed."""

    candidate: Candidate
    tunables: Mapping[str, int]
    compilation: Compilation
    program: LabProgram


class LabEvaluator(SandboxBase[Built]):
    """The lab as a sandbox: real compilation, functional execution, a predicted time."""

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
        self.policy = (seed, *(["exact"] if exact else []))
        self._seed = seed
        self._exact = exact
        self._patience = patience or (EXACT if exact else Patience())
        self._toolchain = toolchain
        self._compiler = Compiler(toolchain, cache, target, evidence)
        self._lab = Lab(toolchain, cache, target, cores, evidence)
        self._verified: dict[str, Evaluation] = {}
        self._turn = threading.Lock()  # the lab uses every core for one candidate; two at once only slow each other

    def verify(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Execute and compare the test cases, then the held-out ones; stops at the first case that fails."""
        started = time.monotonic()
        key = self.key(source, task, tunables)
        with self._turn:
            if key not in self._verified:
                self._verified[key] = replace(self._verify(source, task, tunables), seconds=time.monotonic() - started)
            return self._verified[key]

    def benchmark(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Verify, then predict the benchmark times."""
        verified = self.verify(source, task, tunables)
        if not verified.verdict.accepted:
            return verified
        timed = self.estimate(source, task, tunables)
        return replace(timed, cases=verified.cases, seconds=verified.seconds + timed.seconds)

    def estimate(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Compile and predict without verifying: for ranking tunables only."""
        started = time.monotonic()
        evaluation, built = self._prepare(source, task, tunables)
        if built is None:
            return evaluation
        with self._turn:
            forecast = predict(
                self._lab,
                built.program,
                built.candidate,
                task,
                self.target,
                evaluation.resources,
                built.tunables,
                {k.name: k.blocks for k in built.compilation.kernels},
            )
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

    def compare(self, challenger: Contender, incumbent: Contender, task: Task) -> Comparison:
        """Never asked for: predicted times have no noise and are compared as they are."""
        raise LabError("the lab predicts times and cannot time two kernels in turns; please report this")

    def _verify(self, source: str, task: Task, tunables: Mapping[str, int] | None) -> Evaluation:
        evaluation, built = self._prepare(source, task, tunables)
        if built is None:
            return evaluation
        judge, rows = Judge(self._lab, task, self._patience, self._exact), list[CaseResult]()
        for case, variant in self._cases(task):
            refused = self._refused(built, task, case)
            if refused:
                return replace(evaluation, verdict=rejected("execute", refused), cases=tuple(rows))
            row, findings = judge.run(built.program, built.candidate, built.tunables, case, variant)
            rows.append(row)
            if findings:
                stage: Stage = "correct" if all(f.kind in RESULTS for f in findings) else "execute"
                return replace(evaluation, verdict=rejected(stage, findings), cases=tuple(rows))
        return replace(evaluation, verdict=Verdict("correct", True, "OK"), cases=tuple(rows))

    def _cases(self, task: Task) -> list[tuple[Case, str | None]]:
        """Tests, held-out shapes, and the task's input families on the first test."""
        plain = (*task.tests, *held_out_cases(task, self._seed))
        first = replace(task.tests[0], role="held_out")
        return [*((case, None) for case in plain), *((first, name) for name in task.variant_names)]

    def _refused(self, built: Built, task: Task, case: Case) -> tuple[Finding, ...]:
        """Why this case cannot be launched; a plan must serve shapes that no list names, too."""
        try:
            plan = resolve(built.candidate, task, case, built.tunables)
        except PlanError as error:
            return (Finding("over_limit", str(error), line=error.line, case=case.name),)
        return check_limits(plan, self.target, built.compilation.kernels)

    def _prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None) -> tuple[Evaluation, Built | None]:
        """Everything before execution; nothing is built when the candidate does not get that far."""
        key = self.key(source, task, tunables)
        found = read(source, task, tunables, key)
        if isinstance(found, Evaluation):
            return found, None
        candidate, chosen, plans = found.candidate, found.tunables, list(found.plans)
        compilation = self._compiler.compile(candidate, chosen)
        evaluation = Evaluation(
            key,
            candidate.id,
            chosen,
            Verdict("compile", True, "OK"),
            resources=resources_of(compilation.kernels, self.target, plans),
            code_object=compilation.code_object,
        )
        findings = compilation.findings if not compilation.ok else self._mismatches(compilation, plans)
        if findings:
            return replace(evaluation, verdict=rejected("compile", findings)), None
        program = self._lab.build(candidate, chosen)
        if isinstance(program, tuple):
            return replace(evaluation, verdict=rejected("compile", program)), None
        return evaluation, Built(candidate, chosen, compilation, program)

    def _mismatches(self, compilation: Compilation, plans: list[ResolvedPlan]) -> tuple[Finding, ...]:
        """What the code object's own metadata says against the plan, on any listed case; each thing once."""
        found = [*check_arguments(plans[0], compilation.kernels)]  # which are the same on every case
        found += [f for plan in plans for f in check_limits(plan, self.target, compilation.kernels)]
        return tuple(dict.fromkeys(found))
