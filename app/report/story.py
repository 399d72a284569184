"""A run's records gathered for reading: the winner, the seed, every attempt, the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.coverage import coverage_text
from app.report.leaders import Yardsticks, leaders, time_kind, yardsticks
from records.artefacts import ArtefactStore
from records.errors import LedgerError
from records.evaluation import CODES, Evaluation, Finding, Measurement, geomean_us
from records.experiment import Attempt, Event, Experiment, ModelCall, Run
from records.ledger import Ledger
from records.quantity import counted


@dataclass(frozen=True)
class Extras:
    """Data that the records do not hold: titles of task and target, the environment, texts to redact."""

    task_title: str = ""
    task_description: str = ""
    target_title: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()  # removed wherever they stand
    home: str = ""  # shown as ~


@dataclass(frozen=True)
class Row:
    """One attempt as the page shows it."""

    order: int  # 1 for the first attempt of the run
    attempt: Attempt
    experiment: Experiment | None
    evaluation: Evaluation | None
    source: str
    speedup: float | None  # over the best seed as tuned, same kind of time only
    gain_pct: float | None  # how much faster than the parent, both tuned, in per cent of the new time
    is_record: bool  # faster than everything before it
    contrasts: tuple[str, ...] = ()  # how it did where it was timed in turns with another one, in words

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The sandbox's findings."""
        return self.evaluation.verdict.findings if self.evaluation else ()

    @property
    def meaning(self) -> str:
        """The verdict's code in words."""
        return CODES.get(self.attempt.code, "")


@dataclass(frozen=True)
class Shape:
    """One benchmark case of the winner beside the best seed's, as tuned."""

    measurement: Measurement
    seed_us: float | None

    @property
    def speedup(self) -> float | None:
        """Speed-up over the best seed."""
        return self.seed_us / self.measurement.time_us if self.seed_us else None


@dataclass(frozen=True)
class Bill:
    """Cost of one model in one role."""

    role: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float


@dataclass(frozen=True)
class Story:
    """Everything the page shows, already ordered."""

    run: Run
    extras: Extras
    rows: tuple[Row, ...]
    seed: Row | None  # the best one, as tuned
    best: Row | None
    shapes: tuple[Shape, ...]
    bills: tuple[Bill, ...]
    literature: tuple[str, ...]  # passages the planner was given, each once
    events: tuple[Event, ...]
    generations: int
    kind: str  # predicted | measured | "" when nothing was timed
    roofline_us: float | None  # geometric mean of the speed of light over the winner's cases
    naive_us: float | None = None  # the first seed, as its file has it
    over_naive: float | None = None
    coverage: str = ""  # how much of the benchmark cases was executed and compared for the winner

    @property
    def accepted(self) -> int:
        """Number of verified attempts."""
        return sum(row.attempt.status == "accepted" for row in self.rows)

    @property
    def usd(self) -> float:
        """Cost of the model."""
        return sum(bill.usd for bill in self.bills)

    @property
    def calls(self) -> int:
        """Number of paid answers."""
        return sum(bill.calls for bill in self.bills)

    @property
    def calibration(self) -> str:
        """Comparison of predicted and found gains in a sentence; empty where nothing can be compared."""
        pairs = [
            (row.experiment, row.gain_pct if row.attempt.credit.shown_pct is None else row.attempt.credit.shown_pct)
            for row in self.rows
            if row.experiment is not None and row.gain_pct is not None and row.attempt.generation > 0
        ]
        if not pairs:
            return ""
        below = sum(gain < hoped.gain_min_pct for hoped, gain in pairs)
        above = sum(gain > hoped.gain_max_pct for hoped, gain in pairs)
        return (
            f"Of {counted(len(pairs), 'verified experiment')} {len(pairs) - below - above} gained what the "
            f"planner had predicted, {below} less and {above} more."
        )

    @property
    def lessons(self) -> tuple[str, ...]:
        """Lessons, each once, oldest first; none that its ablation refuted."""
        told = (row.attempt for row in self.rows if row.attempt.standing != "refuted")
        return tuple(dict.fromkeys(attempt.lesson for attempt in told if attempt.lesson))

    @property
    def refuted(self) -> tuple[str, ...]:
        """Lessons that their ablation refuted; no prompt shows them."""
        return tuple(row.attempt.lesson for row in self.rows if row.attempt.standing == "refuted")


def tell(ledger: Ledger, artefacts: ArtefactStore, run_id: str, extras: Extras | None = None) -> Story:
    """Gather a run's records; UsageError when there is no such run, LedgerError when a record is damaged."""
    run = ledger.run(run_id)
    attempts = ledger.attempts(run.id)
    experiments = {e.id: e for e in ledger.experiments(run.id)}
    evaluations = {a.id: ledger.evaluation(a.evaluation_key) for a in attempts}
    kind, events = time_kind(attempts), ledger.events(run.id)
    seeds = yardsticks(attempts, ledger)
    leading = leaders(attempts, ledger)
    winner = leading[-1] if leading else None
    rows = _rows(
        attempts, experiments, evaluations, artefacts, seeds, {a.id for a in leading}, _contrasts(attempts, ledger)
    )
    by_id = {row.attempt.id: row for row in rows}
    best, first = by_id.get(winner.id) if winner else None, by_id.get(seeds.best.id) if seeds.best else None
    shapes = _shapes(best, first)
    return Story(
        run=run,
        extras=extras or Extras(),
        rows=rows,
        seed=first,
        best=best,
        shapes=shapes,
        bills=_bills(ledger.calls(run.id)),
        literature=_literature(events),
        events=events,
        generations=max((a.generation for a in attempts), default=0),
        kind=kind,
        roofline_us=_roofline_us(best),
        naive_us=seeds.naive.default_us if seeds.naive else None,
        over_naive=seeds.over_naive(winner),
        coverage=_coverage(best, ledger),
    )


def _coverage(best: Row | None, ledger: Ledger) -> str:
    """The sentence on the winner's confirmation, or on its verification where it was not confirmed."""
    if best is None or best.evaluation is None:
        return ""
    confirmed = ledger.evaluation(best.attempt.evaluation_key, "confirm")
    return coverage_text((confirmed or best.evaluation).cases)


def _contrasts(attempts: Sequence[Attempt], ledger: Ledger) -> dict[str, tuple[str, ...]]:
    names = {a.evaluation_key: a.id for a in reversed(attempts) if a.status == "accepted"}
    return {
        a.id: tuple(
            f"{c.text} against {names[c.incumbent]}"
            for c in ledger.comparisons(a.evaluation_key)
            if c.incumbent in names
        )
        for a in attempts
        if names.get(a.evaluation_key) == a.id
    }


def _rows(
    attempts: Sequence[Attempt],
    experiments: Mapping[str, Experiment],
    evaluations: Mapping[str, Evaluation | None],
    artefacts: ArtefactStore,
    seeds: Yardsticks,
    records: set[str],
    contrasts: Mapping[str, tuple[str, ...]],
) -> tuple[Row, ...]:
    rows, by_id = list[Row](), {a.id: a for a in attempts}
    for order, attempt in enumerate(attempts, 1):
        parent = by_id.get(attempt.parent_id or "")
        faster = Yardsticks(None, parent).over_best(attempt) if attempt.status == "accepted" else None
        rows.append(
            Row(
                order=order,
                attempt=attempt,
                experiment=experiments.get(attempt.experiment_id),
                evaluation=evaluations[attempt.id],
                source=_text(artefacts, attempt.source),
                is_record=attempt.id in records,
                contrasts=contrasts.get(attempt.id, ()),
                speedup=seeds.over_best(attempt) if attempt.status == "accepted" else None,
                gain_pct=(faster - 1) * 100 if faster else None,
            )
        )
    return tuple(rows)


def _text(artefacts: ArtefactStore, digest: str) -> str:
    """A source, or a sentence in its place: a report must still open when an artefact is lost."""
    try:
        return artefacts.text(digest)
    except (LedgerError, UnicodeDecodeError):
        return "" if not digest else "(this source is missing from the artefact store or damaged)"


def _shapes(best: Row | None, seed: Row | None) -> tuple[Shape, ...]:
    if best is None or best.evaluation is None:
        return ()
    before = {m.case: m for m in seed.evaluation.measurements} if seed and seed.evaluation else {}
    return tuple(
        Shape(m, before[m.case].time_us if m.case in before and before[m.case].kind == m.kind else None)
        for m in best.evaluation.measurements
    )


def _roofline_us(best: Row | None) -> float | None:
    """Weighted geometric mean of the cases at the speed of light."""
    if best is None or best.evaluation is None or any(m.roofline_us <= 0 for m in best.evaluation.measurements):
        return None
    return geomean_us(tuple(_at_roofline(m) for m in best.evaluation.measurements))


def _at_roofline(m: Measurement) -> Measurement:
    return Measurement(m.case, m.roofline_us, m.kind, m.device, m.roofline_us, m.roofline_us, weight=m.weight)


def _literature(events: Sequence[Event]) -> tuple[str, ...]:
    told = (e.payload for e in events if e.kind == "literature")
    return tuple(dict.fromkeys(f"{p.get('title')}: {p.get('section')} ({p.get('source')})" for p in told))


def _bills(calls: Sequence[ModelCall]) -> tuple[Bill, ...]:
    groups: dict[tuple[str, str], list[ModelCall]] = {}
    for call in calls:
        if call.state == "done":
            groups.setdefault((call.role, call.model), []).append(call)
    return tuple(
        Bill(
            role,
            model,
            len(group),
            sum(c.usage.prompt_tokens for c in group),
            sum(c.usage.completion_tokens for c in group),
            sum(c.usage.usd for c in group),
        )
        for (role, model), group in sorted(groups.items())
    )
