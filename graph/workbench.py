"""The bench of one experiment: the tools of agents/bench.py over the run's own sandbox, ledger and notes.

A try is an attempt of its own, recorded as soon as its verdict is known. Everything is asked of the ledger first, so a
text that was checked before costs nothing, and neither does an experiment that starts again after a crash.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from langgraph.runtime import Runtime

from agents.author import Draft, Step
from agents.bench import BenchKernel, BenchRefusal, Checked
from graph.context import Context
from graph.evaluating import announce, evaluate
from graph.lesson import reason_of
from graph.passages import read
from graph.population import specimen
from graph.queries import of_decline, of_failure
from graph.stage import enter, same_as, updated
from graph.state import TrialState
from graph.trial import Trial
from records.durability import is_conclusion
from records.errors import MalformedReply
from records.evaluation import Evaluation
from records.experiment import AttemptStatus
from records.literature import Quotation
from records.machine_code import InnerLoop
from records.quantity import counted, given
from sandbox import walk
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning
from sandbox.walk import Purpose

MOST_SOURCE_BYTES = 128 << 10  # of a kernel that is checked or estimated here
ESTIMATES_A_TRY = 2  # kernels that may be estimated, for each try of the experiment
_PURPOSES: tuple[Purpose, ...] = ("compile", "verify", "benchmark")


@dataclass(frozen=True)
class Ended:
    """The outcome of an experiment's tries."""

    draft: Draft
    is_right: bool
    purpose: str = ""  # with `key`, names the evaluation of a draft that is not right
    key: str = ""
    reason: str = ""


class Workbench:
    """The bench over a run; for one thread."""

    def __init__(self, state: TrialState, runtime: Runtime[Context]) -> None:
        """`state` is that of the experiment before anything was written."""
        self._state, self._runtime = state, runtime
        self._trial = Trial(state, runtime.context)
        self._context = runtime.context
        self._tries: dict[str, Checked] = {}  # by candidate, in the order in which they were made
        self._purposes: dict[str, Purpose] = {}  # by try: the last question asked of it
        self._estimated: set[str] = set()
        self._is_criticised = False
        self._searches = 0

    @property
    def tries_left(self) -> int:
        """Kernels that may still be checked."""
        return self._context.limits.tries - len(self._tries)

    @property
    def tries(self) -> tuple[Checked, ...]:
        """The tries so far, oldest first."""
        return tuple(self._tries.values())

    def resumed(self) -> tuple[Checked, ...]:
        """Take up the tries of this experiment that the ledger has; their verdicts are found there, too."""
        context, experiment = self._context, self._state["experiment_id"]
        attempts = context.ledger.attempts(context.run.id, self._state["generation"])
        earlier = sorted((a for a in attempts if a.experiment_id == experiment and a.tool), key=lambda a: a.number)
        return tuple(self.check(context.artefacts.text(a.source), a.tool, a.change) for a in earlier)

    @property
    def names(self) -> tuple[str, ...]:
        """The kernels that can be named, the tries last; kernels of earlier generations by their own ids."""
        experiment = self._trial.experiment()
        relatives = {"parent": experiment.parent_id, "reference": experiment.reference_id}
        return (
            *(n for n, attempt_id in relatives.items() if attempt_id),
            *(checked.kernel.name for checked in self.tries),
        )

    @property
    def parent(self) -> BenchKernel | None:
        """The kernel that the experiment starts from; None for the first kernel of a task."""
        return self.named("parent") if self._trial.experiment().parent_id else None

    @property
    def best(self) -> Checked | None:
        """The fastest try that is right; of equal ones the first."""
        right = [checked for checked in self.tries if checked.status == "tried"]
        return min(right, key=lambda checked: given(checked.kernel.evaluation.geomean_us, 0.0), default=None)

    def ended(self, report: Draft) -> Ended:
        """Return the kernel that the experiment ends with, under the author's report.

        It is the best try, else the last one.
        """
        best = self.best
        if best is not None:
            return Ended(replace(report, source=best.kernel.source), True)
        if not self._tries:
            return Ended(replace(report, source=""), False, reason="the writer checked no kernel")
        last = self.tries[-1]
        many = counted(len(self._tries), "try", "tries")
        purpose = self._purposes[last.kernel.name]
        reason = f"none of {many} is right; the last one: {last.reason}"
        return Ended(replace(report, source=last.kernel.source), False, purpose, last.kernel.evaluation.key, reason)

    def check(self, source: str, tool: str, change: str = "") -> Checked:
        """Compile, verify and time a kernel with its default tunables, and record it as an attempt."""
        prepared = self._prepared(source)
        earlier = self._tries.get(prepared.id)
        if earlier is not None:
            return replace(earlier, is_repeated=True, literature=())
        if self.tries_left < 1:
            raise BenchRefusal("no try is left; submit the best kernel that is right")
        number = self._trial.free_number(len(self._tries), source)
        enter(self._state, self._runtime, "try", number)
        purpose, evaluation, status, reason = self._judged(prepared)
        if is_conclusion(
            purpose, evaluation
        ):  # before the critic is asked about it: it is in the prompt that is paid for
            evaluation = self._context.ledger.add_evaluation(self._context.run.id, evaluation, purpose)
        state = updated(
            self._state, number=number, purpose=purpose, key=evaluation.key, **self._trial.keep(Draft(source))
        )
        remarks = self._criticised(state, evaluation, status)
        state = updated(state, critique="\n".join(remarks))
        trial = Trial(state, self._context)
        queries = of_failure(evaluation, self._context.assignment.classifies)
        passages = read(self._runtime, trial.reads("repairer", queries)) if status == "rejected" else ()
        trial.record(self._runtime, status, reason, tool=tool, change=change)
        name = f"{self._state['experiment_id']}-a{number}"
        checked = Checked(
            BenchKernel(name, source, evaluation, status == "tried"), status, reason, remarks, literature=passages
        )
        self._tries[prepared.id], self._purposes[name] = checked, purpose
        return checked

    def named(self, name: str) -> BenchKernel:
        """Return a try, the parent, the reference, or an accepted kernel of an earlier generation.

        Kernels of parallel experiments are not found: which of them are there would depend on the threads.
        """
        for checked in self.tries:
            if name in (checked.kernel.name, checked.kernel.name.rpartition("-")[2]):
                return checked.kernel
        experiment = self._trial.experiment()
        attempt_id = {"parent": experiment.parent_id, "reference": experiment.reference_id}.get(name, name)
        attempt = self._context.ledger.attempt(self._context.run.id, attempt_id) if attempt_id else None
        if attempt is None or attempt.status != "accepted" or attempt.generation >= self._state["generation"]:
            available = ", ".join(self.names) or "none yet"
            raise BenchRefusal(f"there is no kernel {name[:40]!r} here; there are {available}")
        stored = specimen(self._context, attempt.id, self._state["generation"])
        return BenchKernel(attempt.id, stored.source, stored.evaluation)

    def estimate(self, source: str) -> BenchKernel:
        """Estimate the times of a kernel that nothing verifies: enough to see what a line costs, never for a record."""
        prepared, most = self._prepared(source), ESTIMATES_A_TRY * self._context.limits.tries
        if prepared.id not in self._estimated and len(self._estimated) >= most:
            raise BenchRefusal(f"all {most} estimates of this experiment are used; check a kernel or submit")
        self._estimated.add(prepared.id)
        return BenchKernel("changed", source, evaluate(self._context, "estimate", prepared), is_verified=False)

    def loops(self, kernel: BenchKernel) -> tuple[InnerLoop, ...]:
        """Return the inner loops in the compiler's listing."""
        disassembler = self._context.disassembler
        if disassembler is None:
            raise BenchRefusal("this target's machine code is not shown")
        prepared = self._prepared(kernel.source).choose(kernel.evaluation.tunables)
        singles = [arm.prepared for arm in prepared.arms] or [prepared]
        loops = tuple(loop for single in singles if single.refusal is None for loop in disassembler.loops(single))
        if not loops:
            raise BenchRefusal(f"{kernel.name} does not compile, so that it has no machine code")
        return loops

    def search(self, query: str) -> tuple[Quotation, ...]:
        """Passages for one query; none, with a warning, where the store is broken."""
        self._searches += 1
        return read(self._runtime, self._trial.reads("search", (query,), f"search{self._searches}"))

    def _prepared(self, source: str) -> Prepared:
        if (size := len(source.encode("utf-8", "replace"))) > MOST_SOURCE_BYTES:
            raise BenchRefusal(f"the kernel has {size} bytes, and at most {MOST_SOURCE_BYTES} are taken")
        return self._context.sandbox.prepare(source, self._context.assignment.task)

    def _judged(self, prepared: Prepared) -> tuple[Purpose, Evaluation, AttemptStatus, str]:
        """Return the last question on a kernel, its answer, and what that makes of the kernel."""
        context = self._context
        announce(context, prepared, Tuning((), 0, context.run.seed), self._state.get("leader", ""))
        compiled = evaluate(context, "compile", prepared)
        if not compiled.verdict.accepted:
            return "compile", compiled, "rejected", reason_of(compiled)
        earlier = same_as(self._trial, prepared, compiled, by_code=len(prepared.choices) <= 1)
        if earlier:
            return "compile", compiled, "duplicate", earlier
        for purpose, evaluation in walk.judge(partial(evaluate, context), prepared, _PURPOSES):
            if not evaluation.verdict.accepted:
                return purpose, evaluation, "rejected", reason_of(evaluation)
        return "benchmark", evaluation, "tried", ""

    def _criticised(self, state: TrialState, evaluation: Evaluation, status: AttemptStatus) -> tuple[str, ...]:
        """Ask for the critic's remarks, once an experiment, where something speaks against a draft that compiles."""
        if self._is_criticised or status == "duplicate" or evaluation.verdict.stage in ("parse", "compile"):
            return ()
        trial, context = Trial(state, self._context), self._context
        concerns = trial.concerns(evaluation)
        if not concerns:
            return ()
        self._is_criticised = True
        step = Step(context.run.id, state["generation"], state["experiment_id"], state["number"])
        draft, base = trial.draft(), trial.base()
        queries = of_decline(evaluation, base.evaluation, context.assignment.classifies)
        passages = read(self._runtime, trial.reads("critic", queries))
        try:
            answer = context.author.critique(
                step, context.assignment, trial.idea(), base, draft, evaluation, concerns, passages
            )
        except MalformedReply:
            return ()
        return () if answer.approve else answer.remarks
