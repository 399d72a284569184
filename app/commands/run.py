"""`run`: Search for a faster kernel for a task."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import (
    Ablations,
    Approve,
    AuthorName,
    Beat,
    Budget,
    Detach,
    Explorations,
    FromMemory,
    Generations,
    Isolation,
    Json,
    LimitValues,
    MaxCalls,
    MaxEvaluations,
    MaxGpuSeconds,
    MaxTokens,
    MaxWallSeconds,
    MemoryTokens,
    NoDispatch,
    NoSeeds,
    On,
    Quiet,
    RunSeed,
    Search,
    Shapes,
    Starts,
    TargetName,
    TaskName,
    Trace,
    Tries,
    Tunings,
    limit_values,
)
from app.screen import emit, note, say
from records.allowance import Allowance
from records.errors import MachineError, RunStopped

if TYPE_CHECKING:
    from app.run_request import RunRequest
    from app.session import RunResult, Session
    from app.settings import Settings


def command(
    task: TaskName,
    target: TargetName = "mi300x",
    on: On = "auto",
    author: AuthorName = None,
    generations: Generations = 4,
    budget_usd: Budget = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
    max_evaluations: MaxEvaluations = None,
    max_gpu_seconds: MaxGpuSeconds = None,
    max_wall_seconds: MaxWallSeconds = None,
    seed: RunSeed = 0,
    picks: Annotated[int, typer.Option("--picks", min=1, help="Experiments tried in a generation.")] = 3,
    tunings: Tunings = None,
    start: Starts = None,
    no_seeds: NoSeeds = False,
    from_memory: FromMemory = False,
    memory: MemoryTokens = None,
    no_dispatch: NoDispatch = False,
    tries: Tries = None,
    ablations: Ablations = None,
    explorations: Explorations = None,
    search: Search = None,
    limit: LimitValues = None,
    shape: Shapes = None,
    beat: Beat = None,
    approve: Approve = False,
    isolation: Isolation = None,
    trace: Trace = False,
    detach: Detach = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search for a faster kernel; exit 0 if a verified one beats the best seed as tuned, 1 if none does."""
    from app.run_request import RunRequest
    from app.settings import load_settings, with_isolation
    from graph.schemes import limits_of_scheme

    chosen = _without_none(
        generations=generations, picks=picks, tunings=tunings, tries=tries, ablations=ablations,
        explorations=explorations, memory_tokens=memory, dispatch=0 if no_dispatch else None,
    )  # fmt: skip
    limits = {**limits_of_scheme(search), **chosen, **limit_values(limit or [])}
    settings = with_isolation(load_settings(), isolation)
    choices, named = (tuple(shape or ()), tuple(start or ()), not no_seeds, from_memory, approve), tuple(beat or ())
    most = Allowance(None, max_tokens, max_calls, max_evaluations, max_gpu_seconds, max_wall_seconds).given()
    request = RunRequest(task, target, on, author, seed, budget_usd, limits, *choices, beat=named, most=most)
    _begin(settings, request, isolation, trace=trace, detach=detach, quiet=quiet, json=json)


def _without_none(**options: float | None) -> dict[str, float | None]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _begin(
    settings: Settings,
    request: RunRequest,
    isolation: str | None,
    *,
    trace: bool,
    detach: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Drive the run here and print what came of it, or send it off."""
    from app.tracing import tracing

    with tracing(settings, trace and not detach):
        from app.session import open_session

        with open_session(settings, request) as session:
            if detach:
                return send_off(session, isolation, trace, json)
            finish(drive(session, settings, json, chosen=request.author is None, quiet=quiet), session, json)


def send_off(session: Session, isolation: str | None, trace: bool, json: bool, more: Sequence[str] = ()) -> None:
    """Have another process drive a session's run, and say how to follow it."""
    from app.detached import LOG, detach

    run = session.context.run
    options = [*([] if isolation is None else ["--isolation", isolation]), *(["--trace"] if trace else []), *more]
    pid = detach(session.settings, session.context.ledger, run, options)
    log = session.folder / LOG
    if json:
        emit({"run_id": run.id, "pid": pid, "log": str(log)})
        return
    say(f"run {run.id}: {run.task} for {run.target} on the {run.on}, author {run.author}, in process {pid}")
    say(f"follow with  kernel-scientist status {run.id}")
    say(f"stop with    kernel-scientist stop {run.id}")
    say(f"log          {log}")


def drive(
    session: Session, settings: Settings, json: bool, chosen: bool = False, says_yes: bool = False, quiet: bool = False
) -> RunResult:
    """Run a session with progress on the screen; Ctrl-C leaves a run that can be resumed, and says how."""
    from app.allowing import limit_lines
    from app.approval import asking
    from app.beating.comparing import untimed_line
    from app.progress import Watcher
    from records.stopping import INTERRUPTED, stoppable

    run = session.context.run
    tell = note if json else say
    why = (
        " (no model is configured; set OPENAI_API_KEY or OPENAI_BASE_URL for one)"
        if chosen and run.author == "playbook"
        else ""
    )
    bench = run.on if ":" in run.on else f"the {run.on}"
    session.context.ledger.add_run(run)  # before it is said that there is one, and how it can be resumed
    watcher = Watcher(run, session.context.ledger, json)
    try:
        with stoppable(session.context.stop, _note_stopping), session.held():  # before it is said that there is a run
            if not quiet:
                tell(f"run {run.id}: {run.task} for {run.target} on {bench}, author {run.author}{why}")
                for line in filter(None, (*limit_lines(settings, session.context), untimed_line(run))):
                    tell(line)
            with nullcontext() if quiet else watcher.watching():
                return session.drive((lambda _: None) if quiet else watcher, asking(watcher.paused, says_yes))
    except (RunStopped, KeyboardInterrupt):
        note(f"\ninterrupted; resume with: kernel-scientist resume {run.id}")
        raise typer.Exit(INTERRUPTED) from None
    except MachineError:
        note(f"the run is kept; after the fault below is repaired, continue with: kernel-scientist resume {run.id}")
        raise


def finish(result: RunResult, session: Session, json: bool) -> None:
    """Print what came of it; exit 1 where no kernel beats the best seed, or where the run waits for answers."""
    from app.detached import tidy
    from app.outcome import print_outcome

    tidy(session.settings)
    if json:
        emit(asdict(result))
    else:
        print_outcome(result, session)
    is_lost = any(row.is_beaten is False for row in result.headline.incumbents)
    if is_lost or not result.is_gain or session.is_waiting or session.run.pause == "approval":
        raise typer.Exit(1)


def _note_stopping() -> None:
    note("stopping; what was begun is ended, and the run can be resumed")
