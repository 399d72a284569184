"""One run from the outside: start or resume it, watch it, and write its best kernel and report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from app import wiring
from app.allowing import extend_limits
from app.beating.comparing import compare_incumbents
from app.candidate_feedback import scores
from app.continuing import branched, extended
from app.model_reach import reach_model
from app.pages import publish
from app.run_request import RunRequest, keep_request, new_run
from app.sandboxes import parallel
from app.settings import Settings
from app.task_folders import open_sound_task
from app.tracing import current_traces
from app.warming import warming
from page.headline import NO_HEADLINE, Headline, diff_of, run_headline
from page.leaders import best_attempt, retuned, yardsticks
from records.errors import LedgerError, UsageError
from records.event_log import Listener, all_of, begun, ended
from records.experiment import Run
from records.files import write_whole
from records.quantity import given
from records.stage_clock import BEAT, REPORT, START, StageClock
from records.stopping import StopSignal, interruptible

if TYPE_CHECKING:
    from graph.context import Context
    from graph.question import Question

Progress = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Best:
    """The fastest verified kernel of a run."""

    id: str
    path: str
    geomean_us: float
    time_kind: str
    speedup_over_seed: float | None  # the best seed, as tuned
    speedup_over_naive_seed: float | None  # the first seed, as its file has it
    is_seed: bool = False  # no kernel of the run beats those it began with
    time_error: float = 0.0  # relative, of a ratio of predicted times; 0 where it is not known


@dataclass(frozen=True)
class RunResult:
    """The object of `run --json`."""

    run_id: str
    best: Best | None
    generations: int
    attempts: int
    accepted: int
    llm_calls: int
    usd: float
    seconds: float  # of this session
    headline: Headline = NO_HEADLINE
    stage_seconds: Mapping[str, float] = field(default_factory=dict)  # the parts of `seconds`, by stage
    diff: str = ""  # the file with what was changed; empty where the gain is told over the best kernel itself

    def scores(self, context: Context) -> dict[str, float]:
        """Return the feedback on the run's trace."""
        best = self.best
        return scores(context, best.id if best else "", best.speedup_over_seed if best else None, self.usd)

    @property
    def is_gain(self) -> bool:
        """True where a verified kernel is faster than the best seed as tuned, by the least gain at least."""
        return self.best is not None and not self.best.is_seed and self.best.speedup_over_seed is not None


class Session:
    """A run with everything it needs, ready to go. Use it in a `with` block."""

    def __init__(self, settings: Settings, context: Context, folder: Path) -> None:
        """Made by `open_session` and `resume_session`."""
        self.settings = settings
        self.context = context
        self.folder = folder
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        """Use the session in a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the stores."""
        self.context.ledger.close()
        close = getattr(self.context.literature, "close", None)
        if close is not None:
            close()

    @property
    def run(self) -> Run:
        """The run as stored in the ledger, with its status; as requested before it is stored."""
        with suppress(UsageError):
            return self.context.ledger.run(self.context.run.id)
        return self.context.run

    @property
    def is_waiting(self) -> bool:
        """True where the run is paused until answers come from elsewhere."""
        return self.run.pause == "waiting"

    def drive(self, progress: Progress, ask: Callable[[Question], Any] = lambda _: None) -> RunResult:
        """Run, or continue where it stopped, to the end; then write the best kernel and the report.

        `ask` answers the questions of a run that wants approval; where it answers None, the run pauses.
        KeyboardInterrupt, RunStopped and MachineError leave a run that can be resumed.
        """
        with self.held():
            return self._driven(progress, ask)

    def _driven(self, progress: Progress, ask: Callable[[Question], Any]) -> RunResult:
        from app.span_export import telemetry

        clock = StageClock(self._started)

        def tell(event: Mapping[str, Any]) -> None:
            clock.take(event, time.monotonic())
            progress(event)

        tell(_stage(START))
        reach_model(self.settings, self.context.run, self.context.ledger, self.context.stop)
        with warming(self.context.sandbox):
            from graph.drive import drive

        traces, trace_id = current_traces(), None
        if traces is not None:
            traces.view.attach(self.context.ledger, self.context.artefacts)
            trace_id = uuid4()
        ledger = self.context.ledger
        stopped, spans_of = interruptible(self.context.stop), telemetry(self.settings, self.context.run.id)
        with stopped, spans_of as spans, self._logged(spans, traces.take if traces is not None else None) as context:
            checkpoints = wiring.checkpoints_of(self.settings, self.folder)
            drive(context, checkpoints, tell, parallel(context), ask=ask, trace_id=trace_id)
            if self.run.status == "done":
                tell(_stage(BEAT))
                compare_incumbents(self.settings, context, best_attempt(ledger.attempts(self.run.id), ledger))
        tell(_stage(REPORT))
        result = self.conclude()
        clock.pass_to(time.monotonic())
        parts = {stage: round(part, 3) for stage, part in clock.seconds.items()}
        result = replace(result, seconds=round(sum(parts.values()), 3), stage_seconds=parts)
        if traces is not None and trace_id is not None:
            traces.score(trace_id, result.scores(self.context))
        return result

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the run, and hear when its stop is asked for, from the moment on that the ledger has it.

        Much is imported, and an endpoint asked, before the graph begins and sees the stop; `drive` holds it, too.
        """
        ledger, context = self.context.ledger, self.context
        ledger.add_run(context.run)
        with ledger.driving(context.run.id), context.stop.counted(), context.meter.heard():
            yield

    @contextmanager
    def _logged(self, *more: Listener | None) -> Iterator[Context]:
        """Give the collaborators with all listeners, who are told first and last that this process drives the run."""
        tell = all_of(self.context.listener, *more)
        tell(begun(self.context.run))
        try:
            yield replace(self.context, listener=tell)
        finally:
            tell(ended(self.run))

    def conclude(self) -> RunResult:
        """Write `best.hip` and `report.html` from what is in the ledger now, and sum the run up."""
        result = summary(self.context.ledger, self.run, self.folder, time.monotonic() - self._started)
        if result.best is not None:
            attempts = {a.id: a for a in self.context.ledger.attempts(result.run_id)}
            text = self.context.artefacts.text
            write_text(Path(result.best.path), text(attempts[result.best.id].source))
            if result.diff and (over := attempts.get(result.headline.over_id)):
                names = f"{over.id}.hip", Path(result.best.path).name
                write_text(Path(result.diff), diff_of(text(over.source), text(attempts[result.best.id].source), names))
        publish(self.settings, self.context.ledger, self.context.artefacts, self.run, self.folder / "report.html")
        return result


def _stage(name: str) -> Mapping[str, Any]:
    """Make the event of a stage that is not the graph's: whoever watches is told, and no record is kept."""
    return {"event": "stage", "generation": 0, "experiment": "", "stage": name, "number": 0}


def open_session(settings: Settings, request: RunRequest, stop: StopSignal | None = None) -> Session:
    """Open a new run, which `stop` cancels; nothing is written to the ledger before it is driven."""
    from app.span_export import refuse_missing
    from sandbox.target import load_target

    refuse_missing(settings)
    task = open_sound_task(settings, request.task, load_target(request.target).name)
    new_run(settings, request, task)  # which refuses a bad request before a folder is made
    ledger, artefacts = wiring.open_records(settings, create=True)
    try:
        config = keep_request(settings, request, task, (ledger, artefacts))
        run = new_run(settings, request, task, config)
    except BaseException:
        ledger.close()
        raise
    return _session(settings, run, (ledger, artefacts), stop)


def resume_session(
    settings: Settings,
    run_id: str,
    generations: int | None = None,
    more: Mapping[str, Any] | None = None,
    before: int | None = None,
    stop: StopSignal | None = None,
) -> Session:
    """Open an earlier run, to continue; with more generations and with other limits, by their names, where asked.

    With `before` a new run with its records from before that generation.
    """
    ledger, artefacts = wiring.open_records(settings, create=False)
    try:
        run = wiring.find_run(ledger, run_id)
        if before is not None:
            run = branched(ledger, run, before)
        if generations is not None:
            run = extended(ledger, run, generations)
        if more:
            run = extend_limits(ledger, run, more)
    except BaseException:
        ledger.close()
        raise
    return _session(settings, run, (ledger, artefacts), stop)


def summary(ledger: Any, run: Run, folder: Path, seconds: float) -> RunResult:
    """Sum up the result of a run so far."""
    attempts, spend = ledger.attempts(run.id), ledger.spend(run.id)
    best, seeds = best_attempt(attempts, ledger), yardsticks(attempts, ledger)
    first_line = run_headline(ledger, run, attempts, seeds, best)
    ideas = {e.id for e in ledger.experiments(run.id, 0) if e.picked_as != "first"}
    return RunResult(
        run_id=run.id,
        generations=max((a.generation for a in attempts), default=0),
        attempts=len(attempts),
        accepted=sum(a.status == "accepted" for a in attempts),
        llm_calls=spend.calls,
        usd=round(spend.usd, 6),
        seconds=round(seconds, 3),
        headline=first_line,
        diff=str(folder / "change.diff") if first_line.over_id and first_line.over_id != first_line.best_id else "",
        best=None
        if best is None
        else Best(
            best.id,
            str(folder / "best.hip"),
            given(best.geomean_us, 0.0),
            best.time_kind or "",
            seeds.over_best(best),
            seeds.over_naive(best),
            bool(ideas) and best.id in {a.id for a in retuned(attempts) if a.generation or a.experiment_id in ideas},
            best.time_error,
        ),
    )


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; LedgerError when its folder cannot be written to."""
    try:
        write_whole(path, text.encode(), is_public=True)
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be written ({error.strerror}); free some space or repair the folder"
        ) from None


def _session(settings: Settings, run: Run, stores: tuple[Any, Any], stop: StopSignal | None) -> Session:
    ledger, artefacts = stores
    try:
        context = wiring.make_context(settings, run, ledger, artefacts, stop)
        return Session(settings, context, wiring.make_folder(settings, run))
    except BaseException:
        ledger.close()
        raise
