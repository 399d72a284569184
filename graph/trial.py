"""One experiment as its nodes see it: its idea, parents, draft, evidence and record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from langgraph.runtime import Runtime

from agents.author import Draft, Idea, Specimen
from agents.checks import check
from graph.ablation import with_cause
from graph.archive import strategy_code
from graph.context import Context
from graph.credit import Estimated, credit_of, inert_of
from graph.events import record_attempt
from graph.lesson import lesson_of, reason_of
from graph.passages import PassageQuery, cited, planned_with
from graph.population import experiment_of, specimen
from graph.state import TrialState
from records.codec import dumps, from_plain
from records.evaluation import Evaluation, Resources, Verdict
from records.experiment import Attempt, AttemptStatus, Experiment
from records.literature import ReaderRole
from records.ranking import ties
from sandbox.candidate.prepare import Prepared
from sandbox.walk import Purpose

_ACCEPTED_BY_COMPILERS = frozenset({"barrier", "ballot", "host_code"})  # kinds of the mechanical checks
_FINAL = frozenset({"accepted", "duplicate", "failed"})  # of an attempt that is no try at the bench
SLOWER = 1.02  # times as long as the parent: below that the difference says little


class Trial:
    """Reads the records that a trial's state names, and writes its attempts."""

    def __init__(self, state: TrialState, context: Context) -> None:
        """`state` is read only."""
        self.state = state
        self.context = context

    def experiment(self) -> Experiment:
        """Return the experiment as planned."""
        return experiment_of(self.context, self.state["experiment_id"])

    def idea(self) -> Idea:
        """Return the planner's idea, with the author's own handle."""
        e = self.experiment()
        return Idea(
            e.title, e.description, e.rubric, e.gain_min_pct, e.gain_max_pct, e.innovation, self.state.get("move", ""),
            e.cites, e.mechanism,
        )  # fmt: skip

    def base(self) -> Specimen:
        """Return the kernel to build on; a blank one in generation 0."""
        experiment = self.experiment()
        if experiment.parent_id:
            return specimen(self.context, experiment.parent_id, self.state["generation"])
        nothing = Attempt("", experiment.run_id, experiment.id, 0, 0, "", "", "rejected", "")
        return Specimen(nothing, experiment, "", Evaluation("", "", {}, Verdict("parse", False, "A.2")))

    def parent(self) -> Attempt | None:
        """Return the attempt to build on; None in generation 0."""
        return self.base().attempt if self.experiment().parent_id else None

    def reference(self) -> Specimen | None:
        """Return the kernel to learn from."""
        reference_id = self.experiment().reference_id
        return specimen(self.context, reference_id, self.state["generation"]) if reference_id else None

    def reads(self, role: ReaderRole, queries: Sequence[str], prompt_name: str = "") -> PassageQuery:
        """Put a question to the literature for one prompt of this experiment; the writer gets what its idea cites, too.

        What the planner read and the idea does not cite is no matter of the writer's. `prompt_name` is its name where a
        role has several of one draft.
        """
        generation, number = self.state["generation"], self.state.get("number", 0)
        prompt_place = f"{self.state['experiment_id']}:{prompt_name or role}:{number}"
        if role != "writer":
            return PassageQuery(prompt_place, role, generation, queries, self.state["experiment_id"], number)
        idea, planned = self.idea(), planned_with(self.context, generation)
        cited_passages = cited(self.context, generation, idea)
        without = [p.id for p in planned if p.id not in idea.cites]
        return PassageQuery(
            prompt_place, role, generation, queries, self.state["experiment_id"], number, cited_passages, without
        )

    def draft(self) -> Draft:
        """Return the current draft."""
        source = self.context.artefacts.text(self.state["draft"])
        return Draft(source, tuple(self.state["implemented"]), tuple(self.state["skipped"]))

    def ended(self) -> Attempt | None:
        """Return the attempt that ended this experiment, as the ledger has it; None while it goes on."""
        attempts = [a for a in self.context.ledger.attempts(self.context.run.id, self.state["generation"])
                 if a.experiment_id == self.state["experiment_id"] and not a.tool]  # fmt: skip
        return next((a for a in reversed(attempts) if a.lesson or a.status in _FINAL), None)

    def quarantine(self, runtime: Runtime[Context], reason: str) -> AttemptStatus:
        """Record that the experiment failed by a fault of the program; its status."""
        experiment = self.experiment()
        attempts = self.context.ledger.attempts(self.context.run.id, experiment.generation)
        number = 1 + max((a.number for a in attempts if a.experiment_id == experiment.id), default=-1)
        nothing = self.context.artefacts.put("")
        attempt = Attempt(
            f"{experiment.id}-a{number}", experiment.run_id, experiment.id, experiment.generation, number, "", nothing,
            "failed", "", experiment.parent_id, reason=reason,
        )  # fmt: skip
        return record_attempt(runtime, attempt, ends_experiment=True).status

    def free_number(self, number: int, source: str) -> int:
        """Return the number under which a draft is recorded: this one, or the next that no other draft has.

        A resumed run finds its drafts under their own numbers. Where an answer was lost and another one was given, the
        ledger already has the first draft, which stays.
        """
        digest = self.context.artefacts.put(source, is_synced=False)
        while (recorded := self._recorded(number)) is not None and digest not in (recorded.draft, recorded.source):
            number += 1
        return number

    def _recorded(self, number: int) -> Attempt | None:
        return self.context.ledger.attempt(self.context.run.id, f"{self.state['experiment_id']}-a{number}")

    def prepared(self) -> Prepared:
        """Return the current draft, ready for the sandbox."""
        return self.context.sandbox.prepare(self.draft().source, self.context.assignment.task)

    def keep(self, draft: Draft) -> dict[str, Any]:
        """Store a draft's source; what the state holds of the draft."""
        return {
            "draft": self.context.artefacts.put(draft.source, is_synced=False),
            "implemented": list(draft.implemented),
            "skipped": list(draft.skipped),
        }

    def evaluation(self) -> Evaluation | None:
        """Return the last stage's evaluation, or None before the first one."""
        if not self.state.get("key"):
            return None
        return self.context.ledger.evaluation(self.state["key"], cast(Purpose, self.state["purpose"]))

    def concerns(self, evaluation: Evaluation) -> tuple[str, ...]:
        """List the points against the current draft, for the critic; none where it has no parent.

        Where there are none, the critic is not asked and nothing is paid.
        """
        if not self.experiment().parent_id:
            return ()
        base = self.base()
        faults = faults_of(self.draft().source, base.source, self.context.assignment.arch)
        return (*concerns(evaluation, base.evaluation), *faults)

    def record(
        self,
        runtime: Runtime[Context],
        status: AttemptStatus,
        reason: str,
        is_last: bool = False,
        benchmark: Evaluation | None = None,
        tool: str = "",
        change: str = "",
    ) -> None:
        """Record the attempt for the current draft with its event. An empty reason comes from the evaluation.

        `benchmark` is the one that an accepted attempt ends with; no ledger has it yet. `tool`: of the bench, where
        `change` is what the writer says is new since the try before.
        """
        state, draft, experiment = self.state, self.draft(), self.experiment()
        result = benchmark or self.evaluation()
        is_accepted, is_right = status == "accepted", status in ("accepted", "tried")
        if result is not None and not is_right:
            reason = reason or reason_of(result)
        source = state.get("source") if is_accepted or status == "duplicate" else None
        attempt = Attempt(
            id=f"{experiment.id}-a{state['number']}",
            run_id=self.context.run.id,
            experiment_id=experiment.id,
            generation=experiment.generation,
            number=state["number"],
            status=status,
            source=source or state["draft"],
            parent_id=experiment.parent_id,
            strategy=self._strategy(source or state["draft"], result),
            change=change or self._change(draft),
            report=draft.implemented,
            skipped=draft.skipped,
            critique=state.get("critique", ""),
            reason=reason,
            tool=tool,
            is_settled=is_accepted and state.get("is_settled", False),
            draft=state["draft"] if is_accepted else "",
            arms=tuple(f"{arm.label}: part {arm.variant.part}" for arm in self.prepared().arms),
            **_fields(result, status),
        )
        if is_accepted:
            attempt = self._with_credit(attempt)
        if is_last and attempt.generation:
            attempt = replace(attempt, lesson=lesson_of(experiment, attempt, result))
        record_attempt(runtime, attempt, benchmark, is_last)

    def _change(self, draft: Draft) -> str:
        """Put the changes of an exploration in words; empty for what an author wrote."""
        changes = self.context.changes
        if changes is None or not self.experiment().explores:
            return ""
        return ", ".join(dict.fromkeys(changes.title(handle) for handle in draft.implemented))

    def _strategy(self, digest: str, result: Evaluation | None) -> str:
        source, tunables = self.context.artefacts.text(digest), result.tunables if result else None
        if not source:
            return ""
        prepared = self.context.sandbox.prepare(source, self.context.assignment.task, tunables)
        return strategy_code(prepared, result)

    def _with_credit(self, attempt: Attempt) -> Attempt:
        """Return the attempt with the parts of its gain, their cause, and the tunables that never mattered."""
        estimates = [from_plain(Estimated, e) for e in self.state.get("estimates", [])]
        parent, default = self.parent(), self.prepared().tunables
        credit = credit_of(attempt, parent, default, estimates)
        readings = self.context.artefacts.put(dumps(self.state["estimates"])) if estimates else ""
        credited = replace(attempt, credit=credit, inert=inert_of(estimates), readings=readings)
        return with_cause(self.context, credited, parent, estimates)


def _fields(result: Evaluation | None, status: AttemptStatus) -> dict[str, Any]:
    """Return the fields of an attempt that come from its evaluation; times only where it is right."""
    if result is None:
        return {"candidate_id": "", "evaluation_key": "", "code": "A.2" if status == "failed" else ""}
    fields: dict[str, Any] = {
        "candidate_id": result.candidate_id,
        "evaluation_key": result.key,
        "code": result.verdict.code,
        "stage": result.verdict.stage,
        "tunables": result.tunables,
    }
    if status in ("accepted", "tried"):
        timed = ("geomean_us", "time_kind", "time_error")
        fields |= {name: getattr(result, name) for name in timed}
    return fields


def concerns(evaluation: Evaluation, parent: Evaluation) -> tuple[str, ...]:
    """List the points against a draft beside its parent, in words for the critic; empty where there is none.

    Findings of the judge, and a time longer than the parent's with what may be its cause: spills, fewer waves. A
    compiler's message is no concern: it says itself what to change.
    """
    points, verdict = list[str](), evaluation.verdict
    if not verdict.accepted and verdict.stage not in ("parse", "compile"):
        points.append(f"the judge refuses it at the stage {verdict.stage}, code {verdict.code}")
    new, old = evaluation.geomean_us, parent.geomean_us
    if new and old and evaluation.time_kind == parent.time_kind and new > SLOWER * old and not ties(evaluation, parent):
        points.append(f"it takes {new:.4g} us, {new / old:.2f} times as long as its parent with {old:.4g} us")
        points += [*_spills(evaluation, parent), *_waves(evaluation, parent)]
    return tuple(points)


def faults_of(source: str, parent_source: str, arch: str) -> tuple[str, ...]:
    """List the faults in a draft and not in its parent that a compiler accepts and the mechanical checks find."""
    before = {(r.kind, r.about) for r in check(parent_source, arch)}
    faults = (r for r in check(source, arch) if r.kind in _ACCEPTED_BY_COMPILERS)
    return tuple(r.text for r in faults if (r.kind, r.about) not in before)


def _spills(evaluation: Evaluation, parent: Evaluation) -> list[str]:
    allowed = max((r.scratch_bytes for r in parent.resources), default=0)
    return [
        f"{r.kernel} spills: {r.scratch_bytes} bytes of scratch a work-item, its parent {allowed}"
        for r in evaluation.resources
        if r.scratch_bytes > allowed
    ]


def _waves(evaluation: Evaluation, parent: Evaluation) -> list[str]:
    new, old = _fewest(evaluation.resources), _fewest(parent.resources)
    return [f"{new} waves fit a SIMD, {old} of its parent"] if new is not None and old is not None and new < old else []


def _fewest(resources: tuple[Resources, ...]) -> int | None:
    return min((r.waves_per_simd for r in resources), default=None)
