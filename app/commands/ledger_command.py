"""`ledger`: Copy runs from one ledger into another, with proof."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from app.commands.options import Json, RunIds
from app.screen import emit, say, table
from records.quantity import counted

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The record of all runs.")
SHOWN = 16  # signs of a digest


@app.callback()
def main() -> None:
    """Keep `copy` a command of its own, so that others can come beside it."""


@app.command()
def copy(
    runs: RunIds,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="postgresql://...|FILE",
            help="A database, its password in ~/.pgpass or PGPASSWORD, or a ledger's file.",
            show_default=False,
        ),
    ],
    json: Json = False,
) -> None:
    """Copy runs with their verdicts and texts into another ledger, and prove that they arrived; they stay here too."""
    from contextlib import ExitStack

    from app.settings import load_settings
    from app.wiring import find_run, open_place, open_records
    from records.transfer import copy_run

    settings = load_settings()
    with ExitStack() as opened:
        source = open_records(settings, create=False)
        opened.enter_context(source[0])
        run_ids = list(dict.fromkeys(find_run(source[0], name).id for name in runs))
        target = open_place(to)
        opened.enter_context(target[0])
        copies = {run_id: copy_run(source, target, run_id) for run_id in run_ids}
        origin, destination = source[0].engine.place, target[0].engine.place
    if json:
        copied = {run_id: [asdict(copy) for copy in tables] for run_id, tables in copies.items()}
        emit({"from": origin, "to": destination, "runs": copied})
        return
    for run_id, tables in copies.items():
        say(f"run {run_id}: from {origin} to {destination}")
        rows = [[c.table, str(c.rows), str(c.known or ""), c.digest[:SHOWN]] for c in tables]
        table(["", "rows", "known there", "SHA-256, equal on both sides"], rows, right=[1, 2])
    say(f"{counted(len(copies), 'run')} copied; go on there with: kernel-scientist resume RUN")
