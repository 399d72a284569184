"""A run's records gathered for the page. What never changes is read once, so that a live page costs little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from page.foretold import foretold
from page.leaders import Yardsticks, leaders, yardsticks
from page.run_lines import Costs, Judged, call_line, candidate_line, gain_over, head_of, judged, light_us, literature
from page.sheets import CallText, CandidateLine, CandidateSheet, Extras, PaidBy, RunBook, RunHead, Shape
from page.winning_changes import winning_changes
from records.agreement import agreement
from records.artefacts import ArtefactStore
from records.code_meanings import CODES
from records.computed_once import computed_once
from records.coverage import coverage_text
from records.errors import LedgerError, UsageError
from records.evaluation import Evaluation, Verdict
from records.experiment import Attempt, Event, Experiment, ModelCall, Run, RunState
from records.ledger import Ledger
from records.stage_clock import STAGES, stage_clock

LAST_EVENTS = 200
LOST = "(this text is missing from the artefact store or damaged)"


class RunReader:
    """One run, read again as it grows. Safe for threads that take turns."""

    def __init__(self, ledger: Ledger, artefacts: ArtefactStore, run_id: str, extras: Extras | None = None) -> None:
        """Raise UsageError when there is no such run."""
        self.run_id = ledger.run(run_id).id
        self.extras = extras or Extras()
        self._ledger = ledger
        self._artefacts = artefacts
        self._judged: dict[str, Judged] = {}

    def head(self) -> RunHead:
        """Describe the run in one line."""
        ledger, run = self._ledger, self._ledger.run(self.run_id)
        attempts = ledger.attempts(run.id)
        leading = leaders(attempts, ledger)
        best = leading[-1] if leading else None
        state, events, calls = ledger.states([run])[run.id], ledger.events(run.id), ledger.calls(run.id)
        return self._head(run, state, attempts, yardsticks(attempts, ledger), best, events, calls)

    def _head(
        self,
        run: Run,
        state: RunState,
        attempts: Sequence[Attempt],
        seeds: Yardsticks,
        best: Attempt | None,
        events: Sequence[Event],
        calls: Sequence[ModelCall],
    ) -> RunHead:
        evaluation = self._ledger.evaluation(best.evaluation_key) if best else None
        experiments = self._ledger.experiments(run.id)
        return head_of(run, state, attempts, seeds, best, evaluation, experiments, events, calls)

    def book(self) -> RunBook:
        """Read the run as it stands; LedgerError when a record is damaged."""
        ledger, run = self._ledger, self._ledger.run(self.run_id)
        events, attempts = ledger.events(run.id), ledger.attempts(run.id)
        seeds, leading = yardsticks(attempts, ledger), leaders(attempts, ledger)
        calls = ledger.calls(run.id)
        best = leading[-1] if leading else None
        clock = stage_clock(events)
        shapes, pairs = self._shapes(best, seeds.best), foretold(ledger, run, attempts)
        extras, head = self.extras, self._head(run, ledger.states([run])[run.id], attempts, seeds, best, events, calls)
        experiments = {e.id: e for e in ledger.experiments(run.id)}
        return RunBook(
            head=head,
            row=events[-1].number if events else 0,
            task_title=extras.task_title,
            task_description=extras.task_description,
            target_title=extras.target_title,
            config=run.config,
            seed=run.seed,
            environment=extras.environment,
            isolation="; ".join(filter(None, dict.fromkeys(self._facts(a).isolation for a in attempts))),
            coverage=self._coverage(best),
            rates=extras.rates,
            naive_id=seeds.naive.id if seeds.naive else "",
            seed_id=seeds.best.id if seeds.best else "",
            roofline_us=light_us([s.measurement for s in shapes]),
            changes=tuple(winning_changes(ledger, attempts, experiments, head.headline)),
            lines=self._lines(attempts, experiments, seeds, {a.id for a in leading}, events, calls),
            shapes=shapes,
            foretold=pairs,
            agreement=agreement(pairs),
            calls=tuple(call_line(n, call) for n, call in enumerate(calls)),
            literature=literature(events, tuple(experiments.values())),
            refuted=tuple(dict.fromkeys(a.lesson for a in attempts if a.standing == "refuted")),
            stage_seconds=clock.seconds,
            stages=clock.current,
            stage_names=STAGES,
            events=events[-LAST_EVENTS:],
        )

    def sheet(self, attempt_id: str) -> CandidateSheet:
        """One candidate whole; UsageError where the run has none of this id."""
        return self._sheet(self._attempt(attempt_id), _RunRecords(self._ledger, self.run_id))

    def sheets(self) -> Iterator[CandidateSheet]:
        """All candidates whole, in the order of the book's lines."""
        records = _RunRecords(self._ledger, self.run_id)
        return (self._sheet(attempt, records) for attempt in records.attempts)

    def texts(self) -> Iterator[CallText]:
        """Yield the texts of all calls, in their order."""
        calls = self._ledger.calls(self.run_id)
        return (self._call_text(n, call) for n, call in enumerate(calls))

    def _sheet(self, attempt: Attempt, records: _RunRecords) -> CandidateSheet:
        ledger, run_id = self._ledger, self.run_id
        experiment = ledger.experiment(run_id, attempt.experiment_id)
        evaluation = ledger.evaluation(attempt.evaluation_key) or _nothing(attempt)
        return CandidateSheet(
            id=attempt.id,
            source=self._text(attempt.source),
            parent=attempt.parent_id or "",
            seed=records.seed_id,
            description=experiment.description if experiment else "",
            cites=experiment.cites if experiment else (),
            rubric=experiment.rubric if experiment else (),
            report=attempt.report,
            skipped=attempt.skipped,
            critique=attempt.critique,
            lesson=attempt.lesson,
            standing=attempt.standing,
            reason=attempt.reason,
            code=attempt.code,
            meaning=CODES.get(attempt.code, ""),
            stage=attempt.stage,
            tunables=attempt.tunables,
            inert=attempt.inert,
            arms=attempt.arms,
            contrasts=self._contrasts(attempt, records),
            findings=evaluation.verdict.findings,
            cases=evaluation.cases,
            measurements=evaluation.measurements,
            resources=evaluation.resources,
            counters=evaluation.counters,
            kernel_counters=evaluation.kernel_counters,
            hot_lines=evaluation.hot_lines,
            explanation=evaluation.explanation,
            isolation=evaluation.isolation,
            paid_by=records.paid_by.get(attempt.evaluation_key, ()),
            seconds=evaluation.seconds,
            calls=records.calls_of(attempt),
        )

    def call(self, number: int) -> CallText:
        """Read the texts of one call; UsageError where the run has none of this number."""
        calls = self._ledger.calls(self.run_id)
        if not 0 <= number < len(calls):
            raise UsageError(f"the run {self.run_id} has no call {number}")
        return self._call_text(number, calls[number])

    def _call_text(self, number: int, call: ModelCall) -> CallText:
        return CallText(call_line(number, call), self._text(call.prompt), self._text(call.reply or ""))

    def text_of(self, attempt_id: str) -> str:
        """Read the source of a candidate as tuned, or a sentence in its place where it is lost."""
        return self._text(self._attempt(attempt_id).source)

    def source_of(self, attempt_id: str) -> tuple[str, Mapping[str, int]]:
        """Read the source of a candidate as tuned, and its tunables; LedgerError where it is lost."""
        attempt = self._attempt(attempt_id)
        return self._artefacts.text(attempt.source), attempt.tunables

    def _attempt(self, attempt_id: str) -> Attempt:
        attempt = self._ledger.attempt(self.run_id, attempt_id)
        if attempt is None:
            raise UsageError(f"the run {self.run_id} has no candidate {attempt_id!r}")
        return attempt

    def _lines(
        self,
        attempts: Sequence[Attempt],
        experiments: Mapping[str, Experiment],
        seeds: Yardsticks,
        records: set[str],
        events: Sequence[Event],
        calls: Sequence[ModelCall],
    ) -> tuple[CandidateLine, ...]:
        recorded_at = {str(e.payload.get("attempt")): e.at for e in events if e.kind == "attempt"}
        by_id, costs = {a.id: a for a in attempts}, Costs(calls)
        return tuple(
            candidate_line(
                a,
                experiments.get(a.experiment_id),
                self._facts(a),
                gain_pct=gain_over(a, by_id.get(a.parent_id or "")),
                over_seed=seeds.over_best(a) if a.status == "accepted" else None,
                is_record=a.id in records,
                recorded_at=recorded_at.get(a.id, ""),
                usd=costs.by(recorded_at.get(a.id, "")),
            )
            for a in attempts
        )

    def _facts(self, attempt: Attempt) -> Judged:
        facts = self._judged.get(attempt.evaluation_key)
        if facts is None:
            evaluation = self._ledger.evaluation(attempt.evaluation_key)
            facts = Judged() if evaluation is None else judged(evaluation)
            self._judged[attempt.evaluation_key] = facts
        return facts

    def _shapes(self, best: Attempt | None, seed: Attempt | None) -> tuple[Shape, ...]:
        """List the best candidate's cases; the seed's time only where it is of the same kind."""
        evaluation = self._ledger.evaluation(best.evaluation_key) if best else None
        before = self._ledger.evaluation(seed.evaluation_key) if seed else None
        times = {(m.case, m.kind): m.time_us for m in before.measurements} if before else {}
        return tuple(Shape(m, times.get((m.case, m.kind))) for m in evaluation.measurements) if evaluation else ()

    def _coverage(self, best: Attempt | None) -> str:
        """Write the sentence on the winner's confirmation, or on its verification where it was not confirmed."""
        if best is None:
            return ""
        read = self._ledger.evaluation
        evaluation = read(best.evaluation_key, "confirm") or read(best.evaluation_key)
        return coverage_text(evaluation.cases) if evaluation else ""

    def _contrasts(self, attempt: Attempt, records: _RunRecords) -> tuple[str, ...]:
        """Sentences on how it did where it was timed in turns with another one."""
        compared = self._ledger.comparisons(attempt.evaluation_key)
        if not compared:
            return ()
        names = records.names
        if names.get(attempt.evaluation_key) != attempt.id:
            return ()
        return tuple(f"{c.text} against {names[c.incumbent]}" for c in compared if c.incumbent in names)

    def _text(self, digest: str) -> str:
        """Read a text, or give a sentence in its place: a page must still open when an artefact is lost."""
        try:
            return self._artefacts.text(digest) if digest else ""
        except (LedgerError, UnicodeDecodeError):
            return LOST


class _RunRecords:
    """Records that the sheets of a run share, read when they are first needed."""

    def __init__(self, ledger: Ledger, run_id: str) -> None:
        self._ledger = ledger
        self._run_id = run_id

    @computed_once
    def attempts(self) -> tuple[Attempt, ...]:
        """All of them, in the order of the book's lines."""
        return self._ledger.attempts(self._run_id)

    @computed_once
    def seed_id(self) -> str:
        """Return the id of the best seed as tuned; "" where none was verified."""
        best = yardsticks(self._ledger.attempts(self._run_id, 0), self._ledger).best
        return best.id if best else ""

    @computed_once
    def names(self) -> Mapping[str, str]:
        """Map each evaluation to its first verified attempt's name."""
        return {a.evaluation_key: a.id for a in reversed(self.attempts) if a.status == "accepted"}

    @computed_once
    def paid_by(self) -> Mapping[str, tuple[PaidBy, ...]]:
        """Map an evaluation's key to the verdicts of other runs that this one found."""
        payments: dict[str, tuple[PaidBy, ...]] = {}
        for payload in (e.payload for e in self._ledger.events(self._run_id) if e.kind == "shared"):
            key, purpose, run, payer, paid_at = (str(payload[name]) for name in ("key", "purpose", "run", "who", "at"))
            payments[key] = (*payments.get(key, ()), PaidBy(purpose, run, payer, paid_at))
        return payments

    @computed_once
    def _call_numbers(self) -> Mapping[tuple[int | None, str], list[int]]:
        numbers: dict[tuple[int | None, str], list[int]] = {}
        for number, call in enumerate(self._ledger.calls(self._run_id)):
            numbers.setdefault((call.generation, call.experiment_id), []).append(number)
        return numbers

    def calls_of(self, attempt: Attempt) -> tuple[int, ...]:
        """Numbers of the calls for its generation and for its experiment."""
        experiments = {"", attempt.experiment_id}
        return tuple(sorted(n for name in experiments for n in self._call_numbers.get((attempt.generation, name), ())))


def _nothing(attempt: Attempt) -> Evaluation:
    """Make an evaluation without content, for an attempt that has none."""
    return Evaluation(attempt.evaluation_key, attempt.candidate_id, attempt.tunables, Verdict("parse", False, "A.2"))
