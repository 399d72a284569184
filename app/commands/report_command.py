"""`report`: Write a run as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import Json, RunId
from app.screen import emit, say


def command(
    run: RunId,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write it; the run's folder by default.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Write the report of a run as one HTML page that loads nothing from outside."""
    from app.pages import publish
    from app.settings import load_settings
    from app.wiring import find_run, open_records

    settings = load_settings()
    ledger, artefacts = open_records(settings, create=False)
    with ledger:
        record = find_run(ledger, run)
        path = publish(settings, ledger, artefacts, record, out or settings.runs_folder / record.id / "report.html")
    if json:
        emit({"run_id": record.id, "path": str(path)})
    else:
        say(str(path))
