"""`calibrate`: Compare the lab's predicted times with measured ones, and scale them."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json, TargetName
from app.screen import emit, note, say, table
from records.errors import UsageError
from records.quantity import counted, plain

if TYPE_CHECKING:
    from app.calibrating import FittedFactors
    from app.settings import Settings
    from records.agreement import Agreement, Pair

Rows = Annotated[
    Path | None,
    typer.Argument(
        metavar="[ROWS.tsv|LEDGER]",
        help="A table of kernel, task, case and measured_us, or a ledger or its folder; the runs folder by default.",
        show_default=False,
    ),
]
Write = Annotated[
    Path | None, typer.Option("--write", metavar="FILE", help="Write the factors as a target file.", show_default=False)
]


def command(rows: Rows = None, target: TargetName = "mi300x", write: Write = None, json: Json = False) -> None:
    """Predict kernels that were measured, and tell how the two agree; a ledger keeps the predictions for reports."""
    from app.calibrating import fitted
    from app.settings import load_settings

    pairs, source = _pairs(load_settings(), rows, target)
    fit = fitted(pairs)
    if fit is None:
        raise UsageError(f"{source} has no kernel that was measured on {target} and that the lab predicts")
    if write is not None:
        _write(write, target, fit, source)
    if json:
        file = None if write is None else str(write)
        emit({"source": source, "target": target, "written": file, **fit.plain})
        return
    _print(fit)
    if write is not None:
        say(f"\nwritten to {write}; predict with it by KERNEL_SCIENTIST_TARGET_FILE={write}")


def _pairs(settings: Settings, rows: Path | None, target: str) -> tuple[list[Pair], str]:
    """All pairs, and the place of the measurements."""
    from app.calibrating import predicted
    from app.sandboxes import resolve_on
    from app.wiring import open_place, open_records
    from sandbox.measured_kernels import kernels_in_ledger, kernels_in_table

    resolve_on("lab", target)
    pairs: list[Pair] = []
    if rows is not None and not is_ledger(rows):
        for prediction in predicted(settings, target, kernels_in_table(rows), note):
            pairs += prediction.pairs
        return pairs, rows.name
    with ExitStack() as opened:
        ledger, artefacts = open_records(settings, create=False) if rows is None else open_place(str(rows))
        opened.enter_context(ledger)
        for prediction in predicted(settings, target, list(kernels_in_ledger(ledger, artefacts, target)), note):
            pairs += prediction.pairs
            if prediction.is_of_task:
                ledger.add_evaluation(prediction.kernel.run_id, prediction.estimate, "estimate")
        return pairs, ledger.engine.place


def is_ledger(path: Path) -> bool:
    """Tell whether this is a ledger's file or a folder with one; UsageError for what is neither that nor a file."""
    if path.is_dir():
        if not (path / "ledger.db").is_file():
            raise UsageError(f"there is no ledger in {path}: name a .tsv file, a ledger or a folder of runs")
        return True
    if not path.is_file():
        raise UsageError(f"there is no {path}: name a .tsv file, a ledger or a folder of runs")
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _write(path: Path, target: str, fit: FittedFactors, source: str) -> None:
    from records.files import write_whole
    from sandbox.target_file import target_file_text

    row: dict[str, str | int | float] = {
        "source": Path(source).name,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "count": fit.before.count,
        "median_error_before": fit.before.error,
        "median_error_after": fit.after.error,
    }
    try:
        write_whole(path, target_file_text(target, fit.factors, row).encode(), is_public=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): name another place with --write") from None


def _print(fit: FittedFactors) -> None:
    table(
        ["kernel", "case", "measured us", "predicted us", "measured / predicted", "bound by"],
        [
            [p.name, p.case, plain(p.measured_us), plain(p.predicted_us), f"{p.ratio:.2f}", p.resource or "-"]
            for p in fit.pairs
        ],
        right=[2, 3, 4],
    )
    say(f"\nover {counted(fit.before.count, 'pair')}: {_agreement_text(fit.before)}")
    say("\nfactors of the predicted times, by the resource that binds them")
    for f in fit.factors:
        say(f"  {f.resource or 'not known'}  {f.factor:.3f}  ({counted(f.count, 'pair')})")
    say(f"with them, on the same pairs: {_agreement_text(fit.after)}")


def _agreement_text(agreement: Agreement) -> str:
    ranks = "" if agreement.spearman is None else f", Spearman {agreement.spearman:.2f}"
    return f"median measured / predicted {agreement.ratio:.2f}, median error {100 * agreement.error:.0f} %{ranks}"
