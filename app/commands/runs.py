"""`runs`: every run of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.commands.options import Json
from app.screen import emit, format_times, format_us, say, table

if TYPE_CHECKING:
    from app.session import RunResult
    from records.experiment import Run


def command(json: Json = False) -> None:
    """List the runs, oldest first."""
    from app.session import summary
    from app.settings import load_settings
    from app.wiring import open_records

    settings = load_settings()
    if not (settings.runs_folder / "ledger.db").exists():
        emit([]) if json else say(f"there are no runs in {settings.runs_folder}; `kernel-scientist demo` makes one")
        return
    ledger, _ = open_records(settings, create=False)
    with ledger:
        found = [(run, summary(ledger, run, settings.runs_folder / run.id, 0.0)) for run in ledger.runs()]
    if json:
        emit([_run_json(run, result) for run, result in found])
        return
    table(
        [
            "run",
            "task",
            "target",
            "author",
            "status",
            "generations",
            "attempts",
            "best",
            "",
            "x best seed",
            "x naive",
            "USD",
        ],
        [_cells(run, result) for run, result in found],
        right=[5, 6, 7, 9, 10, 11],
    )


def _run_json(run: Run, result: RunResult) -> dict[str, Any]:
    best = result.best
    return {
        "run_id": run.id,
        "task": run.task,
        "target": run.target,
        "author": run.author,
        "status": run.status,
        "stop_reason": run.stop_reason,
        "created_at": run.created_at,
        "generations": result.generations,
        "attempts": result.attempts,
        "accepted": result.accepted,
        "usd": result.usd,
        "geomean_us": best.geomean_us if best else None,
        "time_kind": best.time_kind if best else None,
        "speedup_over_seed": best.speedup_over_seed if best else None,
        "speedup_over_naive_seed": best.speedup_over_naive_seed if best else None,
    }


def _cells(run: Run, result: RunResult) -> list[str]:
    best = result.best
    return [
        *(run.id, run.task, run.target, run.author, run.status, str(result.generations), str(result.attempts)),
        format_us(best.geomean_us if best else None),
        best.time_kind if best else "",
        format_times(best.speedup_over_seed if best else None),
        format_times(best.speedup_over_naive_seed if best else None),
        f"{result.usd:.2f}",
    ]
