"""`runs`: every run of this folder."""

from __future__ import annotations

from app.commands.options import Json
from app.screen import emit, format_times, format_us, say, table


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
        emit(
            [
                {
                    "run_id": run.id,
                    "task": run.task,
                    "target": run.target,
                    "author": run.author,
                    "status": run.status,
                    "stop_reason": run.stop_reason,
                    "pause": run.pause,
                    "created_at": run.created_at,
                    "generations": result.generations,
                    "attempts": result.attempts,
                    "accepted": result.accepted,
                    "usd": result.usd,
                    "geomean_us": result.best.geomean_us if result.best else None,
                    "time_kind": result.best.time_kind if result.best else None,
                    "speedup_over_seed": result.best.speedup_over_seed if result.best else None,
                }
                for run, result in found
            ]
        )
        return
    table(
        ["run", "task", "target", "author", "status", "generations", "attempts", "best", "", "x seed", "USD"],
        [
            [
                run.id,
                run.task,
                run.target,
                run.author,
                run.status,
                str(r.generations),
                str(r.attempts),
                format_us(r.best.geomean_us if r.best else None),
                r.best.time_kind if r.best else "",
                format_times(r.best.speedup_over_seed if r.best else None),
                f"{r.usd:.2f}",
            ]
            for run, r in found
        ],
        right=[5, 6, 7, 9, 10],
    )
