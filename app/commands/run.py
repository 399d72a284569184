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
from app.screen import emit, format_times, format_us, note, parts_text, say
from records.allowance import Allowance
from records.errors import MachineError, RunStopped
from records.quantity import counted

if TYPE_CHECKING:
    from app.run_request import RunRequest
    from app.session import Best, RunResult, Session
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
    choices = tuple(shape or ()), tuple(start or ()), not no_seeds, from_memory, approve
    most = Allowance(None, max_tokens, max_calls, max_evaluations, max_gpu_seconds, max_wall_seconds).given()
    request = RunRequest(task, target, on, author, seed, budget_usd, limits, *choices, most=most)
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
    if not quiet:
        tell(f"run {run.id}: {run.task} for {run.target} on {bench}, author {run.author}{why}")
        for line in limit_lines(settings, session.context):
            tell(line)
    watcher = Watcher(run, session.context.ledger, json)
    try:
        with stoppable(session.context.stop, _note_stopping), nullcontext() if quiet else watcher.watching():
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

    tidy(session.settings)
    if json:
        emit(asdict(result))
    else:
        _print(result, session)
    if not result.is_gain or session.is_waiting or session.run.pause == "approval":
        raise typer.Exit(1)


def _print(result: RunResult, session: Session) -> None:
    run, best = session.run, result.best
    say()
    say(f"{run.status}: {run.stop_reason}" if run.stop_reason else run.status)
    if best is None:
        say("no kernel was verified and timed" + (" yet" if session.is_waiting else ""))
    else:
        for text in _time(session, best):
            say(text)
        over = format_times(best.speedup_over_seed), format_times(best.speedup_over_naive_seed)
        say(
            f"             {over[0]} the best seed's speed, tuned; {over[1]} the naive seed's"
            + _bound(session, best.id)
        )
        if not best.is_seed:
            say(f"             {_credit(session, best.id)}")
        for text in _arms(session, best.id):
            say(f"             {text}")
        for text in (*_contrasts(session, best.id), *_agreement(session)):
            say(f"             {text}")
        say(
            f"kernel       {best.path}"
            + ("" if result.is_gain else " (no verified kernel is faster than the best seed)")
        )
    say(f"report       {session.folder / 'report.html'}")
    say(
        f"tried        {counted(result.attempts, 'attempt')} in {counted(result.generations, 'generation')}, "
        f"{result.accepted} verified"
    )
    say(f"spent        ${result.usd:.2f} in {counted(result.llm_calls, 'model call')}, {result.seconds:.0f} s")
    if session.is_waiting:
        spool = run.on.partition(":")[2]
        say(f"answer with  python -m sandbox.worker --spool {spool} --target {run.target}   (where the GPU is)")
        say(f"resume with  kernel-scientist resume {run.id}")
    elif run.pause == "approval":
        say(f"approve with kernel-scientist resume {run.id}   (it asks; with --yes it starts what waits)")


def _time(session: Session, best: Best) -> list[str]:
    """Write the best kernel's time with its kind; of a predicted one the bound and what the difference is made of."""
    from app.times import mean_text, stalls_text

    if best.time_kind != "predicted":
        return [f"best kernel  {best.id}, {format_us(best.geomean_us)} geomean (measured)"]
    attempt = session.context.ledger.attempt(session.context.run.id, best.id)
    evaluation = session.context.ledger.evaluation(attempt.evaluation_key) if attempt else None
    head = f"best kernel  {best.id}, {format_us(best.geomean_us)} geomean (predicted by the lab, not measured on a GPU)"
    if evaluation is None or not evaluation.measurements or not evaluation.measurements[0].bound_us:
        return [head]
    stalls = stalls_text(evaluation)
    return [head, f"             {mean_text(evaluation)}" + (f"; of it {stalls}" if stalls else "")]


def _contrasts(session: Session, attempt_id: str) -> list[str]:
    """Write the gains over the kernels that led before the best one, where a comparison decided them."""
    ledger = session.context.ledger
    attempts = {a.id: a for a in ledger.attempts(session.context.run.id) if a.status == "accepted"}
    ids = {a.evaluation_key: a.id for a in attempts.values()}
    return [
        f"{c.text} than {ids[c.incumbent]}, timed in turns"
        for c in ledger.comparisons(attempts[attempt_id].evaluation_key)
        if c.verdict == "faster" and c.incumbent in ids
    ]


def _agreement(session: Session) -> list[str]:
    """Measured times of this run beside the lab's predictions of them, where the ledger holds some."""
    from page.foretold import foretold
    from records.agreement import agreement

    ledger, run = session.context.ledger, session.context.run
    agreed = agreement(foretold(ledger, run, ledger.attempts(run.id)))
    if agreed is None:
        return []
    return [
        f"measured times are {agreed.ratio:.2f} of the predicted ones at the median of {counted(agreed.count, 'pair')}"
    ]


def _arms(session: Session, attempt_id: str) -> tuple[str, ...]:
    """Name the kernels of a dispatch, each with its condition."""
    attempt = session.context.ledger.attempt(session.context.run.id, attempt_id)
    return attempt.arms if attempt else ()


def _credit(session: Session, attempt_id: str) -> str:
    """Split the last step's gain into its parts, in words."""
    attempt = next(a for a in session.context.ledger.attempts(session.context.run.id) if a.id == attempt_id)
    return f"its step over {attempt.parent_id}: {parts_text(attempt.credit)}"


def _bound(session: Session, attempt_id: str) -> str:
    """Name the resources that bind the best kernel, over its benchmark cases."""
    ledger = session.context.ledger
    attempt = next(a for a in ledger.attempts(session.context.run.id) if a.id == attempt_id)
    evaluation = ledger.evaluation(attempt.evaluation_key)
    bounds = sorted({m.bound for m in evaluation.measurements if m.bound}) if evaluation else []
    return f"; bound by {', '.join(bounds)}" if bounds else ""


def _note_stopping() -> None:
    note("stopping; what was begun is ended, and the run can be resumed")
