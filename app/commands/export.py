"""`export`: a run's best kernel, or its attempts as a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import Json, RunId
from app.screen import emit, say
from records.errors import UsageError
from records.quantity import counted

if TYPE_CHECKING:
    from app.settings import Settings
    from records.artefacts import ArtefactStore
    from records.experiment import Run
    from records.ledger import Ledger


def command(
    run: RunId,
    dataset: Annotated[
        bool,
        typer.Option("--dataset", help="Its attempts as a dataset: to LangSmith where a key is set, or to a file."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Where to write it; in the run's folder by default.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a run's best kernel to a file; with --dataset its attempts, as JSON lines or as a dataset of LangSmith."""
    from app.settings import load_settings
    from app.wiring import find_run, open_records

    settings = load_settings()
    ledger, artefacts = open_records(settings, create=False)
    with ledger:
        found = find_run(ledger, run)
        write = _dataset if dataset else _kernel
        told, lines = write(settings, ledger, artefacts, found, out)
    if json:
        emit({"run_id": found.id, **told})
    else:
        say(lines)


def _kernel(
    settings: Settings, ledger: Ledger, artefacts: ArtefactStore, run: Run, out: Path | None
) -> tuple[dict[str, Any], str]:
    from app.session import summary, write_text

    folder = settings.runs_folder / run.id
    best = summary(ledger, run, folder, 0.0).best
    attempt = None if best is None else ledger.attempt(run.id, best.id)
    if attempt is None:
        raise UsageError(f"the run {run.id} has no verified kernel yet")
    path = out or folder / "best.hip"
    write_text(path, artefacts.text(attempt.source))
    return {"path": str(path), "attempt": attempt.id}, str(path)


def _dataset(
    settings: Settings, ledger: Ledger, artefacts: ArtefactStore, run: Run, out: Path | None
) -> tuple[dict[str, Any], str]:
    from app.dataset import examples_of, lines_of, send
    from app.session import write_text

    examples = examples_of(settings, ledger, artefacts, run)
    if out is None and settings.langsmith_api_key is not None:
        where, added = send(settings, run, examples)
        return {"dataset": where, "examples": len(examples), "added": added}, (
            f"{where}: {counted(len(examples), 'example')}, {added} of them new"
        )
    path = out or settings.runs_folder / run.id / "dataset.jsonl"
    write_text(path, lines_of(examples).decode())
    return {"path": str(path), "examples": len(examples)}, f"{path}: {counted(len(examples), 'example')}"
