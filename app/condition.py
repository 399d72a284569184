"""A run at a moment, from its records alone: whether it is at work, how far it is, its best kernel, its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.session import Best, summary
from app.settings import Settings
from app.wiring import limits_of
from page.headline import Headline
from records.allowance import Allowance
from records.experiment import RunState
from records.stage_clock import stage_clock

if TYPE_CHECKING:
    from records.experiment import Event, Run
    from records.ledger import Ledger


@dataclass(frozen=True)
class Condition:
    """The object of `status --json`."""

    run_id: str
    task: str
    target: str
    on: str
    author: str
    state: RunState
    reason: str  # for people; empty while it runs
    pid: int | None  # 0 where the process is one of another machine or container
    generation: int
    generations: int
    experiments: Mapping[str, str]  # of this generation: the last that is known of each, a stage or an outcome
    stages: Mapping[str, float]  # seconds that each stage under way has taken, by its name; none where none is
    attempts: int
    accepted: int
    best: Best | None
    headline: Headline
    llm_calls: int
    usd: float
    budget_usd: float | None
    shared: Mapping[str, int]  # verdicts that it found, by the run that had paid for them and who ran that
    created_at: str
    last_event_at: str | None
    folder: str


def condition(settings: Settings, ledger: Ledger, run: Run) -> Condition:
    """Describe the run as it is now."""
    pid, folder = ledger.driver(run.id), settings.runs_folder / run.id
    state, run = ledger.states([run])[run.id], ledger.run(run.id)
    result, events = summary(ledger, run, folder, 0.0), ledger.events(run.id)
    generation = max((int(e.payload["generation"] or 0) for e in events if e.kind == "generation"), default=0)
    return Condition(
        run_id=run.id,
        task=run.task,
        target=run.target,
        on=run.on,
        author=run.author,
        state=state,
        reason="no process is at work on it" if state == "stopped" else run.stop_reason,
        pid=pid,
        generation=generation,
        generations=run.generations_at(generation + 1, limits_of(run.config).generations),
        experiments=_under_way(events, generation),
        stages=_ages(events) if pid is not None else {},
        attempts=result.attempts,
        accepted=result.accepted,
        best=result.best,
        headline=result.headline,
        llm_calls=result.llm_calls,
        usd=result.usd,
        budget_usd=Allowance.of(run.config).changed(events).budget_usd,
        shared=Counter(f"{e.payload['run']} ({e.payload['who']})" for e in events if e.kind == "shared"),
        created_at=run.created_at,
        last_event_at=events[-1].at if events else None,
        folder=str(folder),
    )


def age_s(moment: str) -> float:
    """Seconds since a moment in ISO 8601."""
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())


def _ages(events: tuple[Event, ...]) -> dict[str, float]:
    """Find the stages under way and their ages in seconds; of several of one name the oldest."""
    now, ages = datetime.now(UTC).timestamp(), dict[str, float]()
    for stage in stage_clock(events).current:
        ages[stage.stage] = max(ages.get(stage.stage, 0.0), round(max(0.0, now - stage.since), 1))
    return ages


def _under_way(events: tuple[Event, ...], generation: int) -> dict[str, str]:
    stages: dict[str, str] = {}
    for event in events:
        payload: Mapping[str, Any] = event.payload
        if payload.get("generation") == generation and event.kind in ("stage", "attempt") and payload.get("experiment"):
            stages[str(payload["experiment"])] = str(payload["stage"] if event.kind == "stage" else payload["status"])
    return stages
