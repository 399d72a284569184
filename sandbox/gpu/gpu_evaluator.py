"""A GPU as a sandbox: compiles for it, verifies and times on it, with the methods of the lab's evaluator."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from records.errors import DeviceError, ToolchainError
from records.evaluation import Comparison, Evaluation, Finding, Measurement, Verdict, comparison_key
from sandbox.base import SandboxBase, judged
from sandbox.candidate.codes import rejected
from sandbox.candidate.limits import check_limits, resources_of
from sandbox.candidate.parse import parse
from sandbox.candidate.prepare import Prepared, on_common_ground
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.compiled import DEADLINE_S, CompiledCandidate, LoadedCandidate
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.fence import SUMMARY
from sandbox.gpu.fence_choice import fenced
from sandbox.gpu.gpu_pool import GpuPool
from sandbox.gpu.maker_pool import MakerPool, usual_makers
from sandbox.gpu.references import References
from sandbox.gpu.timing.clocks import open_clocks
from sandbox.gpu.timing.contrast import CHALLENGER, INCUMBENT, Rule
from sandbox.gpu.timing.measure import QUICK, STEADY, TimingSetup, concluded, contrast, file_incident, measure, overall
from sandbox.gpu.timing.stopwatch import Refused, Stopwatch
from sandbox.gpu.timing.windows import LevelRule
from sandbox.gpu.trusted.trusted import SOURCE
from sandbox.gpu.whole_verify import Comparisons, VerifyRules, joined, verify_all
from sandbox.recent import Recent
from sandbox.target import Target
from tasks.task import Task


@dataclass(frozen=True)
class Rules:
    """Limits of the measurements of one kernel and of two against each other, and of one call."""

    alone: LevelRule = STEADY
    deadline_s: float = DEADLINE_S  # for one call
    clock_tries: int = 8
    contrast: Rule = field(default_factory=Rule)
    verify: VerifyRules = field(default_factory=VerifyRules)


SPARES = 4  # processes that wait ready: a candidate needs two, to be verified and to be timed
TRIES = 3  # of work that fails through no fault of a candidate
REMEMBERED = 256  # verdicts, so that timing a candidate does not verify it again
RULES = Rules()
T = TypeVar("T")


class GpuEvaluator(SandboxBase):
    """Verdicts and measured times of one GPU. Safe from several threads; the GPU serves one candidate at a time."""

    def __init__(
        self,
        target: Target,
        cache: Path,
        seed: int,
        index: int = 0,
        *,
        library: str | None = None,
        compiler: GpuCompiler | None = None,
        spares: int = SPARES,
        rules: Rules = RULES,
        pool: type[GpuPool] = GpuPool,
        make: Callable[[GpuSlot], ChildProcess] = ChildProcess,
        makers: int | None = None,
    ) -> None:
        """DeviceError when GPU `index` is not there or not of the target's kind, ToolchainError without a compiler.

        Inputs come from a secret of this process and not from `seed`: who knows them can embed the answers.
        `library` is opened instead of the vendor's driver; `make` starts a process on the GPU. So many `makers` of
        batches for sweeps, as many as fit this machine by default.
        """
        self.target, self._cache, self._rules = target, cache, rules
        self._compiler = compiler or GpuCompiler(target, cache, runtime_library=library)
        self._references: dict[str, References] = {}
        try:
            slot, gpu = self._look(GpuSlot(target.vendor, index, library), make)
        except BaseException:
            self._compiler.close()
            raise
        self.gpus = pool([slot], self._own_kernels, spares, make)
        self.fence = slot.fence
        self.isolation = f"{slot.fence} ({SUMMARY[slot.fence]})"
        self.device = gpu.fingerprint
        self.version = f"{self._compiler.version}, driver {gpu.driver}"
        self.policy = ("secret inputs",)
        self._l2_bytes = gpu.attributes.get("l2_bytes", 0)
        self._clocks = open_clocks(target.vendor, gpu.pci)
        self._secret = secrets.randbits(62)
        self._verified: Recent[str, Evaluation] = Recent(REMEMBERED)
        self._best: dict[str, dict[str, float]] = {}  # by task and case: the least time of a checked kernel
        self._lock, self._makers = threading.Lock(), MakerPool(usual_makers() if makers is None else makers)

    def _own_kernels(self) -> bytes:
        build = self._compiler.compile(parse(SOURCE.read_text(encoding="utf-8")), {})
        if build.findings:
            raise ToolchainError(
                f"the judge's own kernels do not compile for {self.target.arch}: {build.findings[0].message}"
            )
        return build.image

    def _look(self, slot: GpuSlot, make: Callable[[GpuSlot], ChildProcess]) -> tuple[GpuSlot, GpuProperties]:
        """Choose the fence of its processes, and ask the driver for the GPU; DeviceError for another kind."""
        slot, opened = fenced(slot, self._own_kernels, lambda gpu: self.target.arch.startswith(gpu.arch), make)
        gpu = opened.properties
        if not self.target.arch.startswith(gpu.arch):
            raise DeviceError(
                f"this GPU is a {gpu.name} ({gpu.arch}), not a {self.target.title} "
                f"({self.target.arch}); choose another target or GPU"
            )
        return slot, gpu

    def compile(self, prepared: Prepared) -> Evaluation:
        """Compile; accepted means that neither the compiler nor the plan's checks object."""
        started = time.monotonic()
        evaluation, _ = self._build(prepared)
        return replace(evaluation, seconds=time.monotonic() - started)

    def verify(self, prepared: Prepared) -> Evaluation:
        """Execute and compare tests, held-out cases and input families; stops at the first case that fails."""
        return self._verified.get(self.key(prepared), lambda: self._judge(prepared))

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Verify, then time the benchmark cases in a new process."""
        verified = self.verify(prepared)
        if not verified.verdict.accepted:
            return verified
        started = time.monotonic()
        timed = self._time(prepared, self._rules.alone, is_checked=True)
        return replace(
            timed, cases=joined(verified.cases, timed.cases), seconds=verified.seconds + time.monotonic() - started
        )

    def estimate(self, prepared: Prepared) -> Evaluation:
        """Compile and time a little, without looking at the outputs: for ranking tunables, never for a record."""
        started = time.monotonic()
        timed = self._time(prepared, QUICK, is_checked=False)
        return replace(timed, seconds=time.monotonic() - started)

    def confirm(self, prepared: Prepared) -> Evaluation:
        """Verify once more: what is timed on a GPU is compared whole, so nothing is left to confirm."""
        return self.verify(prepared)

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Time two verified kernels in turns. A challenger that seems faster must be so again in a new process."""
        started, mine, other = time.monotonic(), self.key(challenger), self.key(incumbent)
        challenger, incumbent = on_common_ground(challenger, incumbent)
        task, sides = challenger.task, {CHALLENGER: challenger, INCUMBENT: incumbent}
        compiled = {tag: self._build(side)[1] for tag, side in sides.items()}
        key = comparison_key(mine, other)
        plain = Comparison(key, mine, other, "undecided", 1.0, 1.0, 1.0, device=self.device)
        ready = {tag: candidate for tag, candidate in compiled.items() if candidate is not None}
        if len(ready) < len(sides):
            return plain

        def duel(child: ChildProcess) -> Comparison | Refused:
            loaded = {tag: self._load(child, tag, candidate) for tag, candidate in ready.items()}
            try:
                cases = contrast(self._setup(task), loaded, self._rules.contrast, random.SystemRandom())
            except Refused as refused:
                return refused
            verdict, ratio, low, high = overall(task, cases, self._rules.contrast.delta)
            return replace(plain, verdict=verdict, ratio=ratio, low=low, high=high, cases=tuple(cases))

        outcome = self._on_child(duel, is_timed=True)
        if isinstance(outcome, Comparison) and outcome.verdict == "faster":
            repeated = self._on_child(duel, is_timed=True)
            confirmed = isinstance(repeated, Comparison) and repeated.verdict == "faster"
            outcome = outcome if confirmed else replace(outcome, verdict="undecided")
        if isinstance(outcome, Refused):
            file_incident(self._cache, sides[outcome.tag].source, task.name, self.device, outcome.finding)
        if not isinstance(outcome, Comparison):
            outcome = plain
        return replace(outcome, seconds=time.monotonic() - started)

    def close(self) -> None:
        """End the processes that wait for work."""
        self.gpus.close()
        self._compiler.close()
        self._makers.close()
        for references in self._references.values():
            references.close()

    def _build(self, prepared: Prepared) -> tuple[Evaluation, CompiledCandidate | None]:
        """Compile and check all that can be checked before a launch."""
        evaluation = self._begun(prepared)
        if prepared.refusal is not None:
            return evaluation, None
        build = self._compiler.compile(prepared.candidate, prepared.tunables)
        plan = prepared.plans[0]
        kernels = build.metadata(plan)
        evaluation = replace(
            evaluation, resources=resources_of(kernels, self.target, prepared.plans), code_object=build.digest
        )
        findings = build.findings or (
            *build.check_variables(),
            *build.check_arguments(plan),
            *dict.fromkeys(f for case_plan in prepared.plans for f in check_limits(case_plan, self.target, kernels)),
        )
        if findings:
            return replace(evaluation, verdict=rejected("compile", findings)), None
        return evaluation, CompiledCandidate(prepared, build)

    def _judge(self, prepared: Prepared) -> Evaluation:
        started = time.monotonic()
        evaluation, compiled = self._build(prepared)
        verified = evaluation if compiled is None else self._verify(evaluation, compiled)
        return replace(verified, seconds=time.monotonic() - started)

    def _verify(self, evaluation: Evaluation, compiled: CompiledCandidate) -> Evaluation:
        task, comparisons = compiled.prepared.task, Comparisons()
        self._makers.start(task)
        references = self._references_of(task)
        references.prepare()  # may take long, and needs no GPU

        def work(child: ChildProcess) -> tuple[Finding, ...]:
            comparisons.rows.clear()
            comparisons.open.clear()
            loaded = self._load(child, CHALLENGER, compiled)
            return verify_all(loaded, references, self.target, self._rules.verify, comparisons, self._makers)

        outcome = self._on_child(work)
        findings = (outcome,) if isinstance(outcome, Finding) else outcome
        findings = findings or comparisons.concluded()  # the next candidate has the GPU meanwhile
        return replace(evaluation, verdict=judged(findings), cases=tuple(comparisons.rows))

    def _time(self, prepared: Prepared, rule: LevelRule, is_checked: bool) -> Evaluation:
        evaluation, compiled = self._build(prepared)
        if compiled is None:
            return evaluation
        task = prepared.task
        self._references_of(task).prepare()  # may take long, and needs no GPU
        ready, best = compiled, self._best.setdefault(task.digest, {})

        def work(child: ChildProcess) -> tuple[list[Measurement], list[Stopwatch]]:
            return measure(self._setup(task), self._load(child, CHALLENGER, ready), rule, is_checked, best)

        timed = self._on_child(work, is_timed=True)
        outcome = timed if isinstance(timed, Finding) else concluded(*timed)  # the next candidate has the GPU meanwhile
        if isinstance(outcome, Finding):
            if is_checked:
                file_incident(self._cache, prepared.source, task.name, self.device, outcome)
            return replace(evaluation, verdict=rejected("time", (outcome,)))
        if is_checked:
            best.update({m.case: min(m.time_us, best.get(m.case, m.time_us)) for m in outcome[0]})
        return replace(
            evaluation, verdict=Verdict("time", True, "OK"), measurements=tuple(outcome[0]), cases=tuple(outcome[1])
        )

    def _on_child(self, work: Callable[[ChildProcess], T], is_timed: bool = False) -> T | Finding:
        """Do it in a new child process; a candidate's fault becomes a finding, after a device's it is tried again."""
        last, ends, losses = "", 0, 0
        for _ in range(TRIES):
            with self.gpus.child(is_timed) as child:
                try:
                    return work(child)
                except Refused as refused:
                    return refused.finding
                except ChildFault as fault:
                    if fault.kind is not None:
                        return Finding(fault.kind, fault.message, case=fault.case)
                    last = fault.message
                    ends, losses = ends + fault.ended, losses + fault.lost
                    if fault.lost:
                        self.gpus.blame_device(child)
        if ends == TRIES:
            return Finding(
                "wrong_result",
                f"{last}, {TRIES} times in a row while this kernel ran; a known kernel gave right results in between",
            )
        if not ends and not losses:
            raise DeviceError(last)  # the machine's, and it says what to do
        raise DeviceError(f"the GPU failed {TRIES} times in a row ({last}); look at it with `kernel-scientist doctor`")

    def _load(self, child: ChildProcess, tag: str, compiled: CompiledCandidate) -> LoadedCandidate:
        return compiled.load(child, tag, self._rules.deadline_s)

    def _setup(self, task: Task) -> TimingSetup:
        return TimingSetup(
            self.target, self._references_of(task), self.device, self._l2_bytes, self._clocks, self._rules.clock_tries
        )

    def _references_of(self, task: Task) -> References:
        with self._lock:
            return self._references.get(task.digest) or self._references.setdefault(
                task.digest, References(task, self._secret, facts=self._cache / "families")
            )
