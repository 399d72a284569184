"""`model scan`: which regions of a model take its time, and what a kernel for each would give the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json
from app.screen import emit, format_us, say, table

if TYPE_CHECKING:
    from records.model_scan import ModelRegion, ModelScan

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE.py:CLASS|FILE.pt2|TRACE",
        help="A PyTorch module, a program of torch.export.save, or a trace: PyTorch's Chrome JSON, rocprofv3's CSV.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=TYPE[DIM,...][:LIMIT]",
        help="An input, in the order of forward, where the file has no get_inputs().",
        show_default=False,
    ),
]
Sizes = Annotated[
    list[str] | None, typer.Option("--size", metavar="DIM=N,...", help="The sizes, with --input.", show_default=False)
]
ForTarget = Annotated[
    str,
    typer.Option(
        "--target",
        help="The GPU whose times are predicted, mi300x by default; of a trace that names none, the GPU it is from.",
        show_default=False,
    ),
]
Rows = Annotated[int, typer.Option("--top", min=1, help="RowShape of the table; the folder has all regions.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The new folder; ./CLASS-scan by default.", show_default=False),
]


def command(
    source: Source,
    input_: Inputs = None,
    size: Sizes = None,
    target: ForTarget = "",
    top: Rows = 20,
    out: Out = None,
    json: Json = False,
) -> None:
    """Scan a model for the regions that a kernel of your own could make faster, the largest gain first."""
    from app.model_scanning import ScanWish, model_place, scan_folder, scan_of, write_scan
    from app.new_folder import refuse_taken
    from app.settings import load_settings
    from imports.declared_inputs import declared
    from records.codec import to_plain

    if out is not None:
        refuse_taken(out)
    model_place(source)
    finished = scan_of(load_settings(), ScanWish(source, declared(input_ or [], size or []), target))
    folder = scan_folder(finished, out)
    refuse_taken(folder)
    write_scan(finished, folder)
    if json:
        emit({**to_plain(finished.scan), "folder": str(folder)})
        return
    show(finished.scan, top)
    shown = folder if folder.is_absolute() else f"./{folder}"
    is_traced = finished.scan.source_kind == "trace"
    say(f"{shown}: scan.json and index.html" if is_traced else f"{shown}: next: kernel-scientist model tasks {shown}")


def show(scan: ModelScan, top: int) -> None:
    """Print the table and what could not be scanned."""
    from page.model_page import summary

    headings = ["region", "kind", "calls", "time", "share", "bound by", "gap", "gain", "what to expect"]
    is_traced = scan.source_kind == "trace"
    table(headings, [_row(region, is_traced) for region in scan.regions[:top]], right=(2, 3, 4, 6, 7))
    if len(scan.regions) > top:
        rest = sum(region.share for region in scan.regions[top:])
        say(f"{len(scan.regions) - top} more regions with {rest:.1%} of the time")
    for text in scan.notes:
        say(f"note: {text}")
    say(summary(scan))


def _row(region: ModelRegion, is_traced: bool) -> list[str]:
    """Write a row; a kernel of a trace goes by its library's name for it."""
    return [
        region.operators[0][:60] if is_traced else region.name[:40],
        region.kind,
        str(region.count),
        format_us(region.time_us),
        f"{region.share:.1%}",
        region.bound_by or "?",
        f"{region.gap:.2f}x" if region.gap else "?",
        f"{region.model_gain:.3f}x",
        region.reason if region.is_task or is_traced else f"no task: {region.reason}",
    ]
