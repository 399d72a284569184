"""The functions of the Python interface: plain arguments in, records out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from typing_extensions import Unpack

from app.exporting import source_of_run
from app.judged import judge
from app.run_request import RunRequest, checked_fields
from app.session import Session, open_session, resume_session
from app.settings import Settings, load_settings
from app.tracing import tracing_here
from kernel_scientist.run_events import Finished, RunEvent, event_of
from kernel_scientist.search_result import OptimisedKernel, SearchResult
from records.allowance import NAMES
from records.errors import RunStopped, UsageError
from records.evaluation import Evaluation
from records.stopping import StopSignal, interruptible

if TYPE_CHECKING:
    from graph.context import Context
    from graph.question import Question


_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("target", "author", "on"), (str,)),
    **dict.fromkeys(("generations", "picks", "tunings", "budget_usd"), (int, float)),
    **dict.fromkeys((name for name in NAMES if name != "budget_usd"), (int, float)),
    "limits": (dict, Mapping),
    "seed": (int,),
    "shapes": (str, Sequence),
    "starts": (str, Path, Sequence),
    "beat": (str, Sequence),
    "seeds": (bool,),
    "ask": (Callable,),  # type: ignore[dict-item]  # mypy takes it for a form of types alone
    "stop": (StopSignal,),
    "settings": (Settings,),
}
_OF_A_CHECK: Mapping[str, tuple[type, ...]] = {
    **{name: _KINDS[name] for name in ("target", "on", "seed", "shapes", "settings")},
    **{"source": (str,), "task": (str, Path), "tunables": (dict, Mapping), "whole": (bool,)},
}
_OF_A_RESUMPTION: Mapping[str, tuple[type, ...]] = {
    **{name: _KINDS[name] for name in ("ask", *NAMES, "stop", "settings")},
    **{"run_id": (str,), "generations": (int,), "progress": _KINDS["ask"]},
}


class RunLimits(TypedDict, total=False):
    """The most that a whole run may use; a new value counts from the run's beginning."""

    budget_usd: float | None
    max_tokens: int | None
    max_calls: int | None
    max_evaluations: int | None
    max_gpu_seconds: float | None
    max_wall_seconds: float | None


class RunOptions(RunLimits, total=False):
    """Options of a run; all have the defaults of the command line."""

    target: str
    author: str | None  # llm or playbook
    on: str  # lab, device, spool:DIR, worker:HOST:PORT, auto
    generations: int
    picks: int
    tunings: int
    limits: Mapping[str, int | float]  # further fields of `Limits`
    seed: int
    shapes: str | Sequence[str]
    starts: str | Path | Sequence[str | Path]  # kernel files to begin with
    beat: str | Sequence[str]  # what the best kernel is compared with, as `--beat` takes it
    seeds: bool  # begin with the task's own kernels, too; true where it is left out
    ask: Callable[[Question], Any]  # answers the questions of a run that wants approval
    stop: StopSignal  # its `ask()`, from another thread, pauses the run: RunStopped
    settings: Settings


def run(
    task: str | Path, *, progress: Callable[[RunEvent], None] = lambda _: None, **options: Unpack[RunOptions]
) -> SearchResult:
    """Search for a faster kernel for a task, by its name or its folder; ScientistError says in a sentence why not.

    With `ask`, a person or a program approves the experiments of each generation: it gets a `Question` and answers
    True, False or a list of ids; None pauses the run. Ctrl-C pauses it, too; `kernel-scientist resume` goes on.

    The options, all of which may be left out: `target`, `author`, `on`, `generations`, `picks`, `tunings`, `limits`,
    `seed`, `budget_usd` and the other limits of `RunLimits`, `shapes`, `starts`, `seeds`, `ask`, `stop`, `settings`;
    docs/using.md says more of each.
    """
    chosen = _checked_options(options)
    checked_fields({"task": task, "progress": progress}, {"task": (str, Path), "progress": _KINDS["ask"]}, "a run")
    with tracing_here(chosen["settings"]), _opened(task, chosen) as session:
        return _driven(session, progress, chosen.get("ask"))


def optimise(
    source: str | Path | Callable[..., Any],
    *,
    inputs: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    reference: str | Path | Callable[..., Any] = "",
    grid: Sequence[str] = (),
    block: Sequence[str | int] = (),
    name: str = "",
    out: str | Path = "",
    force: bool = False,
    progress: Callable[[RunEvent], None] = lambda _: None,
    **options: Unpack[RunOptions],
) -> OptimisedKernel:
    """Make a file or a function faster, and write the result with its own signature into NAME-optimised or `out`.

    `source` is FILE or FILE:NAME as the command `optimise` takes it, or a function of PyTorch or NumPy; `inputs` are
    words such as {"x": "f32[rows,cols]", "eps": 1e-5} with `sizes`, or example arrays. The other options are those of
    `run`. ScientistError says in a sentence what is missing.
    """
    from app.open_questions import refuse_open
    from app.optimising import FOLDER, prepare_in, write_result
    from kernel_scientist.user_function import user_file_of

    chosen = _checked_options(options)
    launch = tuple(grid), tuple(map(str, block))
    with user_file_of(source, inputs or {}, sizes or {}, reference, launch, name) as user_file:
        refuse_open(user_file, "kernel-scientist optimise")
        folder = Path(out or f"{user_file.title}{FOLDER}")
        prepared = prepare_in(chosen["settings"], user_file, folder, force)
    starts = (*prepared.starts, *_listed(chosen.get("starts", ()), "starts", str | Path))
    with tracing_here(chosen["settings"]), _opened(prepared.task, {**chosen, "starts": starts}) as session:
        result = _driven(session, progress, chosen.get("ask"))
    if result.best is None:
        return OptimisedKernel(result, None, (), prepared.notes, "no kernel was verified")
    result_files = write_result(chosen["settings"], result.run_id, folder, force)
    return OptimisedKernel(result, result_files.path, tuple(result_files.files), prepared.notes, result_files.remark)


def resume(
    run_id: str,
    *,
    progress: Callable[[RunEvent], None] = lambda _: None,
    ask: Callable[[Question], Any] | None = None,
    generations: int | None = None,
    stop: StopSignal | None = None,
    settings: Settings | None = None,
    **limits: Unpack[RunLimits],
) -> SearchResult:
    """Go on with a run that was paused or met a limit, or beyond its end with more generations.

    Limits that are not given stay as they were; nothing is paid for twice.
    """
    arguments = {"run_id": run_id, "progress": progress, "ask": ask, "generations": generations, "stop": stop}
    checked_fields({**arguments, **limits, "settings": settings}, _OF_A_RESUMPTION, "a resumption")
    chosen = settings or load_settings()
    with tracing_here(chosen), resume_session(chosen, run_id, generations, limits, stop=stop) as session:
        return _driven(session, progress, ask)


async def astream(task: str | Path, **options: Unpack[RunOptions]) -> AsyncIterator[RunEvent]:
    """Run as `run` does and yield each event when it happens, `Finished` last; one that is closed early is paused."""
    loop, queue, stop = asyncio.get_running_loop(), asyncio.Queue[RunEvent | None](), options.get("stop", StopSignal())
    options["stop"] = stop

    def progress(event: RunEvent) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, event)

    work = asyncio.ensure_future(asyncio.to_thread(run, task, progress=progress, **options))
    work.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield Finished(result=work.result())
    finally:
        if not work.done():
            stop.ask()
            with contextlib.suppress(RunStopped):
                await asyncio.shield(work)


def check(
    source: str,
    task: str | Path,
    *,
    target: str = "mi300x",
    on: str = "lab",
    seed: int = 0,
    tunables: Mapping[str, int] | None = None,
    shapes: str | Sequence[str] = (),
    whole: bool = False,
    settings: Settings | None = None,
) -> Evaluation:
    """Compile, verify and time one kernel, given as text; a bad one is an `Evaluation` whose verdict has findings."""
    arguments = {"target": target, "on": on, "seed": seed, "tunables": tunables, "shapes": shapes, "whole": whole}
    checked = checked_fields(
        {**arguments, "source": source, "task": task, "settings": settings}, _OF_A_CHECK, "a check"
    )
    setting = str(checked["task"]), checked.get("target", "mi300x"), checked.get("on", "lab")
    chosen, shape_names = checked.get("settings") or load_settings(), _listed(shapes, "shapes", str)
    options: dict[str, Any] = {"tunables": tunables, "shapes": shape_names, "is_whole": whole}
    stop = StopSignal()
    with interruptible(stop):
        return judge(chosen, source, *setting, seed=checked.get("seed", 0), **options, stop=stop)


def get_source(run_id: str, kernel_id: str = "", *, settings: Settings | None = None) -> str:
    """Return the text of a kernel of a run, such as that of a state's `best_id`; of its best one without an id."""
    checked_fields({"run_id": run_id, "kernel_id": kernel_id}, {"run_id": (str,), "kernel_id": (str,)}, "a source")
    return source_of_run(settings or load_settings(), run_id, kernel_id)


@contextlib.contextmanager
def open_context(task: str | Path, **options: Unpack[RunOptions]) -> Iterator[Context]:
    """Open the collaborators of a new run: `build_graph().compile().stream({"run_id": c.run.id}, context=c)`."""
    chosen = _checked_options(options)
    with tracing_here(chosen["settings"]) as traces, _opened(task, chosen) as session:
        if traces is not None:
            traces.view.attach(session.context.ledger, session.context.artefacts)
        with interruptible(session.context.stop):
            yield session.context


def _checked_options(options: RunOptions) -> dict[str, Any]:
    """Check the options that were given, and the settings; UsageError for one that there is not, or of another type."""
    chosen = checked_fields(options, _KINDS, "the options of a run")
    return chosen if "settings" in chosen else {**chosen, "settings": load_settings()}


def _opened(task: str | Path, options: Mapping[str, Any]) -> Session:
    request = RunRequest(
        task=str(task),
        target=options.get("target", "mi300x"),
        on=options.get("on", "auto"),
        author=options.get("author"),
        seed=options.get("seed", 0),
        budget_usd=options.get("budget_usd"),
        limits={
            **options.get("limits", {}),
            **{n: options[n] for n in ("generations", "picks", "tunings") if n in options},
        },
        shapes=_listed(options.get("shapes", ()), "shapes", str),
        starts=tuple(map(Path, _listed(options.get("starts", ()), "starts", str | Path))),
        has_seeds=options.get("seeds", True),
        beat=_listed(options.get("beat", ()), "beat", str),
        approves="ask" in options,
        most={name: options[name] for name in NAMES if name in options and name != "budget_usd"},
    )
    return open_session(options["settings"], request, options.get("stop"))


def _listed(value: Any, field: str, kind: Any) -> tuple[Any, ...]:
    """One text or path is a list of one; UsageError where one of several is neither."""
    members = (value,) if isinstance(value, str | Path) else tuple(value or ())
    for member in members:
        if not isinstance(member, kind):
            raise UsageError(f"the field {field} holds texts or paths, not one of type {type(member).__name__}")
    return members


def _driven(
    session: Session, progress: Callable[[RunEvent], None], ask: Callable[[Question], Any] | None
) -> SearchResult:
    result = session.drive(lambda payload: progress(event_of(payload)), ask or (lambda _: None))
    run = session.run
    source = ""
    if result.best is not None:
        attempt = session.context.ledger.attempt(run.id, result.best.id)
        source = session.context.artefacts.text(attempt.source) if attempt is not None else ""
    return SearchResult(
        run_id=run.id,
        status=run.status,
        stop_reason=run.stop_reason,
        best=result.best,
        source=source,
        report=session.folder / "report.html",
        generations=result.generations,
        attempts=result.attempts,
        accepted=result.accepted,
        llm_calls=result.llm_calls,
        usd=result.usd,
        seconds=result.seconds,
        stage_seconds=result.stage_seconds,
        headline=result.headline,
        diff=Path(result.diff).read_text(encoding="utf-8") if result.diff else "",
    )
