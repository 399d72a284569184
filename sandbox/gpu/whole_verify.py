"""The verdict on all cases of a task in one child process: tests, held-out cases, state, benchmark cases whole.

A benchmark case is executed as it will be timed, on secret contents, and every element of its outputs is compared with
the float64 reference. That comparison takes the processor long and needs no GPU, so `Comparisons` finishes it when the
GPU already serves another candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

import numpy as np

from records.errors import PlanError
from records.evaluation import CaseResult, Finding
from sandbox.candidate.limits import check_limits
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.compiled import LoadedCandidate, layout_of
from sandbox.gpu.device_state import ChainRule, DeviceState, Grading, StateKept
from sandbox.gpu.gpu_verify import unwritten, verify_case
from sandbox.gpu.maker_pool import MakerPool
from sandbox.gpu.memory_file import Raw, shared_file
from sandbox.gpu.references import Grade, References
from sandbox.gpu.sweep_verify import SWEEP, SweepRule, SweepVerification
from sandbox.target import Target
from tasks.task import Case

SETS_BYTES = 2 << 30  # of all sets together


NO_MAKERS = MakerPool(0)


@dataclass(frozen=True)
class VerifyRules:
    """Limits of a verification."""

    chain: ChainRule = field(default_factory=ChainRule)
    sweep: SweepRule = SWEEP


@dataclass
class Comparisons:
    """Rows of the cases so far, and the comparisons of benchmark cases that are still under way."""

    rows: list[CaseResult] = field(default_factory=list)
    open: list[tuple[Case, Future[Grade]]] = field(default_factory=list)

    def is_open(self) -> bool:
        """Tell whether a comparison is under way."""
        return not all(grade.done() for _, grade in self.open)

    def concluded(self) -> tuple[Finding, ...]:
        """Wait for them; the findings of the first case that is wrong."""
        worst: dict[str, float] = {}
        for case, grade in self.open:
            graded = grade.result()
            worst[case.name] = max(graded.error, worst.get(case.name, 0.0))
            if graded.findings:
                message = graded.findings[0].message
                self.rows.append(CaseResult(case.name, "benchmark", False, worst[case.name], message=message))
                return graded.findings
        self.rows += [CaseResult(name, "benchmark", True, error) for name, error in worst.items()]
        return ()


def joined(verified: Sequence[CaseResult], timed: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    """Join the rows of both: a benchmark case, which both compare, with the larger error."""
    errors = {row.name: row.error or 0.0 for row in verified if row.role == "benchmark"}
    names = {row.name for row in timed}
    unreplaced = (row for row in verified if row.role != "benchmark" or row.name not in names)
    return (*unreplaced, *(replace(row, error=max(row.error or 0.0, errors.get(row.name, 0.0))) for row in timed))


def verify_all(
    loaded: LoadedCandidate,
    references: References,
    target: Target,
    rules: VerifyRules,
    comparisons: Comparisons,
    makers: MakerPool = NO_MAKERS,
) -> tuple[Finding, ...]:
    """Verify every case, until one shows a fault; `comparisons` gets the rows and what is still open. ChildFault.

    The sweep comes last: its batches are made and the benchmark cases are compared while the GPU does the others.
    """
    with SweepVerification(loaded, references, target, rules.sweep, makers) as sweep:
        findings = _derived(loaded, references, target, rules.chain, comparisons)
        if not findings:
            findings = _benchmarks(loaded, references, target, rules.chain, comparisons)
        if not findings:
            findings = _on_a_family(loaded, references, comparisons)
        if not findings:
            findings = sweep.run(comparisons.is_open)
        if not findings:
            comparisons.rows += sweep.rows()
        return findings


def _derived(
    loaded: LoadedCandidate, references: References, target: Target, rule: ChainRule, comparisons: Comparisons
) -> tuple[Finding, ...]:
    """Verify the tests, and the shapes derived from them and from the plan."""
    compiled = loaded.compiled
    has_variables = compiled.variable_bytes > 0 or compiled.build.hidden_bytes > 0
    chosen = loaded.rng.choice(references.tests())
    for case in references.cases(compiled.prepared):
        if refused := _refused(loaded, target, case):
            return refused
        with _Naming(case):
            row, findings = verify_case(loaded, references, case, None)
            comparisons.rows.append(row)
            if not findings and (has_variables or case == chosen):
                findings = [*_keeps_nothing(loaded, references, case, rule)]
        if findings:
            return tuple(findings)
    return ()


def _benchmarks(
    loaded: LoadedCandidate, references: References, target: Target, rule: ChainRule, comparisons: Comparisons
) -> tuple[Finding, ...]:
    for case in references.benchmarks():
        if refused := _refused(loaded, target, case):
            return refused
        with _Naming(case):
            if findings := _whole(loaded, references, case, rule, comparisons):
                return tuple(findings)
    return ()


def _on_a_family(loaded: LoadedCandidate, references: References, comparisons: Comparisons) -> tuple[Finding, ...]:
    """Verify one benchmark case on inputs of a secretly drawn family, whole."""
    drawn = references.drawn_family()
    if drawn is None:
        return ()
    case, family = replace(drawn[0], role="held_out"), drawn[1]
    with _Naming(case):
        row, findings = verify_case(loaded, references, case, family)
    comparisons.rows.append(row)
    return tuple(findings)


class _Naming:
    """A block whose faults are those of a case."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Name the case in a fault that goes through."""
        if isinstance(error, ChildFault):
            error.case = self._case.name


def _refused(loaded: LoadedCandidate, target: Target, case: Case) -> tuple[Finding, ...]:
    """Report where the plan asks for more in this case than the target has."""
    compiled = loaded.compiled
    try:
        plan = compiled.prepared.plan(case)
    except PlanError as error:
        return (Finding("over_limit", str(error), line=error.line, case=case.name),)
    findings = check_limits(plan, target, compiled.build.metadata(plan))
    return tuple(replace(finding, case=case.name) for finding in findings)


def _keeps_nothing(loaded: LoadedCandidate, references: References, case: Case, rule: ChainRule) -> Sequence[Finding]:
    """Check the rule on state, on one shape with two draws of its inputs: one to each base."""
    answers = [references.verified(variant, None) for variant in references.two_inputs(case)]

    def grade(content: int, outputs: Mapping[str, Raw]) -> Sequence[Finding]:
        return references.grade(case, answers[content], outputs).findings

    with shared_file("inputs", np.concatenate([answer.flat for answer in answers])) as handle:
        return _state(loaded, case, handle, grade, rule)


def _whole(
    loaded: LoadedCandidate, references: References, case: Case, rule: ChainRule, comparisons: Comparisons
) -> Sequence[Finding]:
    """Verify a benchmark case: all its outputs on both bases are compared, and the rule on state holds there too."""
    task, layout = loaded.task, layout_of(loaded.task, case, loaded.compiled)

    def compare(content: int, outputs: Mapping[str, Raw], noise_seed: int) -> Grade:
        graded = references.grade(case, references.whole(case, content), outputs)
        left = unwritten(task, layout, content, outputs, noise_seed, is_whole=True) if graded.findings else []
        return replace(graded, findings=tuple(replace(f, case=case.name) for f in left)) if left else graded

    def grade(content: int, outputs: Mapping[str, Raw]) -> Sequence[Finding]:
        comparisons.open.append((case, references.threads.submit(compare, content, outputs, loaded.child.noise_seed)))
        return ()

    return _state(loaded, case, references.bases(case), grade, rule)


def _state(loaded: LoadedCandidate, case: Case, inputs: int, grade: Grading, rule: ChainRule) -> Sequence[Finding]:
    layout = layout_of(loaded.task, case, loaded.compiled)
    sets = max(2, min(rule.sets, SETS_BYTES // layout.nbytes))
    loaded.bind(layout, inputs, sets, is_whole=True)
    try:
        DeviceState(loaded, case, layout, sets, grade, rule).check()
    except StateKept as state_kept:
        return (state_kept.finding,)
    return ()
