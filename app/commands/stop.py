"""`stop`: Pause a run that is at work, wherever it was started."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.options import Json, RunId
from app.screen import emit, say


def command(
    run: RunId,
    wait: Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait until it is paused.")] = 30.0,
    json: Json = False,
) -> None:
    """Pause a run, wherever it is driven, as Ctrl-C does; exit 1 where it is not paused when the wait ends."""
    from app.detached import stop
    from app.settings import load_settings
    from app.wiring import find_run, open_records

    settings = load_settings()
    ledger, _ = open_records(settings, create=False)
    with ledger:
        record = find_run(ledger, run)
        has_ended = stop(ledger, record, wait)
        status = ledger.run(record.id).status
    if json:
        emit({"run_id": record.id, "stopped": has_ended, "status": status})
    elif has_ended:
        say(f"run {record.id} is {status}; resume with: kernel-scientist resume {record.id}")
    else:
        say(f"run {record.id} was asked to stop and has not yet; if its process hangs, end that")
    if not has_ended:
        raise typer.Exit(1)
