"""`memory`: Show what new runs are told of earlier ones."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import Json
from app.screen import emit, say, table
from records.errors import NoRecords, UsageError
from records.redaction import redacted

if TYPE_CHECKING:
    from app.settings import Settings
    from records.ledger import Ledger
    from records.memories import Recollection

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What new runs are told of earlier ones.")
SHOWN = 12  # characters of a key in the list
Key = Annotated[
    str, typer.Argument(metavar="KEY", help="A key of the list or the beginning of one.", show_default=False)
]


@app.command("list")
def list_(
    task: Annotated[
        str | None, typer.Option("--task", help="Only what runs of the task with this name left.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List what is remembered, oldest first, with its provenance."""
    settings, ledger = _open_ledger()
    with ledger:
        remembered = [_row(settings, ledger, r) for r in ledger.recollections() if task in (None, r.task)]
    if json:
        emit(remembered)
        return
    if not remembered:
        of = f"runs of the task {task}" if task else f"the runs in {settings.runs_folder}"
        say(f"nothing is remembered of {of}; a run that gains leaves its winner and the lessons that were shown")
        return
    columns = ("kind", "task", "target", "run", "kernel", "at", "state", "text")
    rows = [[r["key"][:SHOWN], *(str(r[name]) for name in columns)] for r in remembered]
    table(["key", *columns], [[*row[:6], row[6][:10], *row[7:]] for row in rows])


@app.command()
def show(key: Key, json: Json = False) -> None:
    """Show one recollection whole, with the task's digest and the reason where it was withdrawn."""
    settings, ledger = _open_ledger()
    with ledger:
        row = _row(settings, ledger, ledger.recollection(key))
    if json:
        emit(row)
        return
    for name, value in row.items():
        say(f"{name:12} {value}")


@app.command()
def withdraw(
    key: Key,
    reason: Annotated[str, typer.Option("--reason", help="Kept with it.")] = "no reason given",
    json: Json = False,
) -> None:
    """Tell no later run of it; a run that began with it keeps what it was told."""
    _, ledger = _open_ledger()
    with ledger:
        memory = ledger.recollection(key)
        ledger.withdraw(memory.key, f"{datetime.now(UTC):%Y-%m-%d}: {' '.join(reason.split()) or 'no reason given'}")
    _print_state(memory, "withdrawn", json)


@app.command()
def restore(key: Key, json: Json = False) -> None:
    """Take a withdrawal back."""
    _, ledger = _open_ledger()
    with ledger:
        memory = ledger.recollection(key)
        ledger.withdraw(memory.key, "")
    _print_state(memory, "restored", json)


def _print_state(memory: Recollection, word: str, json: bool) -> None:
    if json:
        emit({"key": memory.key, "state": word})
    else:
        say(f"{word} {memory.key[:SHOWN]}: {memory.kind}, kernel {memory.attempt_id} of run {memory.run_id}")


def _row(settings: Settings, ledger: Ledger, r: Recollection) -> dict[str, Any]:
    """One recollection with its words, as a run would be told them."""
    from graph.recall import finding_of

    text = finding_of(ledger, r)
    state = f"withdrawn {r.withdrawn}" if r.withdrawn else "told" if text else "not told: its kernel is not accepted"
    return {
        "key": r.key,
        "kind": r.kind,
        "task": r.task,
        "task_digest": r.task_digest,
        "target": r.target,
        "run": r.run_id,
        "kernel": r.attempt_id,
        "at": r.at,
        "state": state,
        "text": redacted(text, settings.secrets(), str(Path.home())),
    }


def _open_ledger() -> tuple[Settings, Ledger]:
    from app.settings import load_settings
    from app.wiring import open_records

    settings = load_settings()
    try:
        return settings, open_records(settings, create=False)[0]
    except NoRecords as none:
        raise UsageError(f"there is nothing to remember: {none}") from None
