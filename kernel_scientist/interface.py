"""The functions of the Python interface: plain arguments in, records out."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from typing_extensions import Unpack

from app.judged import judge
from app.run_request import RunRequest
from app.session import Session, open_session, resume_session
from app.settings import Settings, load_settings
from app.tracing import tracing_here
from kernel_scientist.run_events import Finished, RunEvent, event_of
from kernel_scientist.search_result import SearchResult
from records.evaluation import Evaluation

if TYPE_CHECKING:
    from graph.context import Context
    from graph.question import Question


class RunOptions(TypedDict, total=False):
    """Options of a run; all have the defaults of the command line."""

    target: str
    author: str | None  # llm or playbook
    on: str  # lab, device, spool:DIR, worker:HOST:PORT, auto
    generations: int
    picks: int
    tunings: int
    limits: Mapping[str, int | float]  # further fields of `Limits`
    seed: int
    budget_usd: float | None
    shapes: Sequence[str]
    starts: Sequence[Path]  # kernel files to begin with
    ask: Callable[[Question], Any]  # answers the questions of a run that wants approval
    settings: Settings


def run(
    task: str, *, progress: Callable[[RunEvent], None] = lambda _: None, **options: Unpack[RunOptions]
) -> SearchResult:
    """Search for a faster kernel for a task, by its name or its folder; ScientistError says in a sentence why not.

    With `ask`, a person or a program approves the experiments of each generation: it gets a `Question` and answers
    True, False or a list of ids; None pauses the run. Ctrl-C pauses it, too; `kernel-scientist resume` goes on.
    """
    settings = options.get("settings") or load_settings()
    with tracing_here(settings), _opened(task, options, settings) as session:
        return _driven(session, progress, options.get("ask"))


def resume(
    run_id: str,
    *,
    progress: Callable[[RunEvent], None] = lambda _: None,
    ask: Callable[[Question], Any] | None = None,
    generations: int | None = None,
    budget_usd: float | None = None,
    settings: Settings | None = None,
) -> SearchResult:
    """Go on with a run that was paused, or beyond its end with more generations; nothing is paid for twice."""
    chosen = settings or load_settings()
    with tracing_here(chosen), resume_session(chosen, run_id, budget_usd, generations) as session:
        return _driven(session, progress, ask)


async def astream(task: str, **options: Unpack[RunOptions]) -> AsyncIterator[RunEvent]:
    """Run as `run` does and yield each event when it happens, `Finished` last; one that is closed early is paused."""
    loop, queue, closed = asyncio.get_running_loop(), asyncio.Queue[RunEvent | None](), threading.Event()

    def progress(event: RunEvent) -> None:
        if closed.is_set():
            raise BrokenPipeError  # nobody reads: the run pauses
        loop.call_soon_threadsafe(queue.put_nowait, event)

    work = asyncio.ensure_future(asyncio.to_thread(run, task, progress=progress, **options))
    work.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield Finished(result=work.result())
    finally:
        closed.set()
        with contextlib.suppress(BrokenPipeError):
            await asyncio.shield(work)


def check(
    source: str,
    task: str,
    *,
    target: str = "mi300x",
    on: str = "lab",
    seed: int = 0,
    tunables: Mapping[str, int] | None = None,
    shapes: Sequence[str] = (),
    whole: bool = False,
    settings: Settings | None = None,
) -> Evaluation:
    """Compile, verify and time one kernel, given as text; a bad one is an `Evaluation` whose verdict has findings."""
    return judge(
        settings or load_settings(), source, task, target, on, seed=seed, tunables=tunables, shapes=shapes, whole=whole
    )


@contextlib.contextmanager
def open_context(task: str, **options: Unpack[RunOptions]) -> Iterator[Context]:
    """The collaborators of a new run: `build_graph().compile().stream({"run_id": c.run.id}, context=c)`."""
    settings = options.get("settings") or load_settings()
    with tracing_here(settings) as traces, _opened(task, options, settings) as session:
        if traces is not None:
            traces.view.attach(session.context.ledger, session.context.artefacts)
        yield session.context


def _opened(task: str, options: RunOptions, settings: Settings) -> Session:
    named = {name: options.get(name) for name in ("generations", "picks", "tunings")}
    asked = RunRequest(
        task=task,
        target=options.get("target", "mi300x"),
        on=options.get("on", "auto"),
        author=options.get("author"),
        seed=options.get("seed", 0),
        budget_usd=options.get("budget_usd"),
        limits={**options.get("limits", {}), **{n: v for n, v in named.items() if isinstance(v, int | float)}},
        shapes=tuple(options.get("shapes", ())),
        starts=tuple(map(Path, options.get("starts", ()))),
        approves="ask" in options,
    )
    return open_session(settings, asked)


def _driven(
    session: Session, progress: Callable[[RunEvent], None], ask: Callable[[Question], Any] | None
) -> SearchResult:
    made = session.drive(lambda told: progress(event_of(told)), ask or (lambda _: None))
    run = session.run
    source = ""
    if made.best is not None:
        attempt = session.context.ledger.attempt(run.id, made.best.id)
        source = session.context.artefacts.text(attempt.source) if attempt is not None else ""
    return SearchResult(
        run_id=run.id,
        status=run.status,
        stop_reason=run.stop_reason,
        best=made.best,
        source=source,
        report=session.folder / "report.html",
        generations=made.generations,
        attempts=made.attempts,
        accepted=made.accepted,
        llm_calls=made.llm_calls,
        usd=made.usd,
        seconds=made.seconds,
    )
