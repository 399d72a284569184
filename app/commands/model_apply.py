"""`model apply`: a Python package that puts verified kernels into a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import Json, On
from app.screen import emit, note, say

Scan = Annotated[Path, typer.Argument(metavar="SCAN", help="The folder that model scan has written.")]
Kernels = Annotated[
    list[str],
    typer.Argument(
        metavar="[REGION=]RUN|FILE@TASK...",
        help="Runs on tasks of the scan, of which the best kernel is taken, or kernel files with their tasks; +RUN or "
        "+FILE@TASK behind one is the kernel of its gradients.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The new package; ./CLASS_kernels by default.", show_default=False),
]


def command(
    scan: Scan,
    kernels: Kernels,
    target: Annotated[str, typer.Option("--target", help="Of a file: the GPU it is for.")] = "mi300x",
    on: On = "lab",
    unchecked: Annotated[bool, typer.Option("--unchecked", help="Of a file: ask for no verdict first.")] = False,
    out: Out = None,
    force: Annotated[bool, typer.Option("--force", help="Write over the files of an earlier package.")] = False,
    json: Json = False,
) -> None:
    """Write a package whose `apply(model)` replaces regions of the model's graph by verified kernels."""
    from app.exporting import write_new
    from app.model_applying import package_of
    from app.settings import load_settings

    package_path, files, notes = package_of(load_settings(), scan, kernels, out, target, on, unchecked)
    write_new({package_path / path: content for path, content in files.items()}, force)
    if json:
        emit({"package": str(package_path), "files": sorted(files), "notes": list(notes)})
        return
    for text in notes:
        note(text)
    say(f"{package_path}: next: kernel-scientist model check {package_path} FILE.py:CLASS")
