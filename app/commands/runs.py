"""`runs`: List, compare and remove the runs of this folder."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import Json, RunId, RunIds, shipped_tasks
from app.screen import emit, format_times, format_us, say, table
from records.errors import NoRecords, UsageError

if TYPE_CHECKING:
    from app.session import RunResult
    from app.settings import Settings
    from records.experiment import Run, RunState
    from records.ledger import Ledger

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, help="List the runs, oldest first.")
STATES = ("running", "stopped", "paused", "done", "failed")
NAMES = ["run", "task", "target", "author", "status", "generations", "attempts"]
OVER = {"given": "your kernel", "generated": "best generated", "seed": "best seed"}  # what the gain is told over
UNITS = {"h": 3600, "d": 86400, "w": 604800}


@app.callback()
def list_(
    context: typer.Context,
    task: Annotated[
        str, typer.Option("--task", help="Only runs on this task.", show_default=False, autocompletion=shipped_tasks)
    ] = "",
    target: Annotated[str, typer.Option("--target", help="Only runs for this GPU.", show_default=False)] = "",
    state: Annotated[str, typer.Option("--state", help=f"Only {', '.join(STATES)}.", show_default=False)] = "",
    since: Annotated[
        str,
        typer.Option("--since", metavar="WHEN", help="Begun since a date or within 12h, 3d, 2w.", show_default=False),
    ] = "",
    json: Json = False,
) -> None:
    """List the runs, oldest first."""
    if context.invoked_subcommand is not None:
        return
    from app.session import summary
    from app.settings import load_settings
    from app.wiring import open_records

    if state and state not in STATES:
        raise UsageError(f"--state is one of {', '.join(STATES)}, not {state!r}")
    begin = moment(since) if since else None
    settings = load_settings()
    try:
        ledger, _ = open_records(settings, create=False)
    except NoRecords as none:
        emit([]) if json else say(str(none))
        return
    with ledger:
        runs = [r for r in ledger.runs() if _is_wanted(r, task, target, begin)]
        states = ledger.states(runs)
        chosen = [run for run in runs if state in ("", states[run.id])]
        rows = [(run, states[run.id], summary(ledger, run, settings.runs_folder / run.id, 0.0)) for run in chosen]
    if json:
        emit([_run_json(*row) for row in rows])
    elif rows:
        table(
            [*NAMES, "best", "", "gain", "over", "x naive", "USD"],
            [_cells(*row) for row in rows],
            right=[5, 6, 7, 9, 11, 12],
        )
    else:
        say("no run is like that; `kernel-scientist runs` lists all")


@app.command()
def compare(left: RunId, right: RunId, json: Json = False) -> None:
    """Show two runs side by side; times are compared where they are of one kind, task and GPU."""
    from app.session import summary
    from records.ranking import ratio_error, tie_text, ties

    settings, ledger = _open_ledger()
    with ledger:
        runs = [_run_named(ledger, name) for name in (left, right)]
        results = [summary(ledger, run, settings.runs_folder / run.id, 0.0) for run in runs]
        states = ledger.states(runs)
    sides = [_run_json(run, states[run.id], result) for run, result in zip(runs, results, strict=True)]
    first, second = (result.best for result in results)
    same = all(sides[0][name] == sides[1][name] for name in ("task", "target", "time_kind"))
    speedup = first.geomean_us / second.geomean_us if first and second and same and second.geomean_us else None
    if json:
        is_tie = None if speedup is None or first is None or second is None else ties(first, second)
        emit({"left": sides[0], "right": sides[1], "speedup": speedup and round(speedup, 4), "is_tie": is_tie})
        return
    rows = [[name.replace("_", " "), *(_field_text(name, side[name]) for side in sides)] for name in sides[0]]
    table(["", "left", "right"], rows)
    if speedup is None:
        say("\nthe best kernels cannot be compared: another task, GPU or kind of time, or none was verified")
    else:
        kind = sides[0]["time_kind"]
        tie = f", {tie_text(ratio_error(first, second))}" if first and second and ties(first, second) else ""
        say(f"\nthe right run's best kernel has {speedup:.3f} times the left one's speed ({kind}{tie})")


@app.command()
def remove(
    runs: RunIds, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False, json: Json = False
) -> None:
    """Remove runs with their records, files and what was paid for in them; this cannot be undone."""
    from postgres.shared_database import open_checkpoints
    from records.artefacts import path_of

    settings, ledger = _open_ledger()
    with ledger:
        run_ids = list(dict.fromkeys(_run_named(ledger, name).id for name in runs))
        at_work = [run.id for run in ledger.runs() if ledger.driver(run.id) is not None]
        if at_work:
            raise UsageError(f"{at_work[0]} is at work; runs can be removed when all have ended or were stopped")
        if not yes and not typer.confirm(f"remove {', '.join(run_ids)} for good?", default=False, err=True):
            raise typer.Exit(1)
        for run_id in run_ids:
            for digest in ledger.remove(run_id):
                path_of(settings.runs_folder / "artefacts", digest).unlink(missing_ok=True)
            shutil.rmtree(settings.runs_folder / run_id, ignore_errors=True)
            (settings.runs_folder / "locks" / f"{run_id}.lock").unlink(missing_ok=True)
            if settings.database is not None:
                with open_checkpoints(settings.database) as saver:
                    saver.delete_thread(run_id)
        ledger.shrink()
    if json:
        emit({"removed": run_ids})
    else:
        for run_id in run_ids:
            say(f"removed {run_id}")


def moment(text: str) -> datetime:
    """Parse a date, a time in ISO 8601, or so long ago: 12h, 3d, 2w; UsageError for anything else."""
    number, unit = text[:-1], text[-1:]
    if number.isdecimal() and unit in UNITS and int(number) < 10_000:
        return datetime.now(UTC) - timedelta(seconds=int(number) * UNITS[unit])
    try:
        since = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--since is a date such as 2026-11-22, or 12h, 3d, 2w; not {text!r}") from None
    return since if since.tzinfo else since.astimezone()


def _open_ledger() -> tuple[Settings, Ledger]:
    from app.settings import load_settings
    from app.wiring import open_records

    settings = load_settings()
    return settings, open_records(settings, create=False)[0]


def _run_named(ledger: Ledger, name: str) -> Run:
    from app.wiring import find_run

    return find_run(ledger, name)


def _is_wanted(run: Run, task: str, target: str, begin: datetime | None) -> bool:
    if begin is not None and (not run.created_at or datetime.fromisoformat(run.created_at) < begin):
        return False
    return task in ("", run.task) and target in ("", run.target)


def _run_json(run: Run, state: RunState, result: RunResult) -> dict[str, Any]:
    best = result.best
    return {
        "run_id": run.id,
        "task": run.task,
        "target": run.target,
        "author": run.author,
        "status": state,
        "stop_reason": run.stop_reason,
        "created_at": run.created_at,
        "generations": result.generations,
        "attempts": result.attempts,
        "accepted": result.accepted,
        "usd": result.usd,
        "geomean_us": best.geomean_us if best else None,
        "time_kind": best.time_kind if best else None,
        "headline": result.headline.text,
        "gain": result.headline.gain,
        "over": result.headline.over,
        "speedup_over_seed": best.speedup_over_seed if best else None,
        "speedup_over_naive_seed": best.speedup_over_naive_seed if best else None,
    }


def _field_text(name: str, value: Any) -> str:
    if name == "geomean_us":
        return format_us(value)
    return format_times(value) if name.startswith("speedup") or name == "gain" else "-" if value is None else str(value)


def _cells(run: Run, state: RunState, result: RunResult) -> list[str]:
    best = result.best
    return [
        *(run.id, run.task, run.target, run.author, state, str(result.generations), str(result.attempts)),
        format_us(best.geomean_us if best else None),
        best.time_kind if best else "",
        format_times(result.headline.gain),
        OVER.get(result.headline.over, ""),
        format_times(best.speedup_over_naive_seed if best else None),
        f"{result.usd:.2f}",
    ]
