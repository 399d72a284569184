"""`model check`: a model with and without its kernels, compared and timed as a whole."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.commands.options import Json
from app.screen import emit, note, say, table

Package = Annotated[Path, typer.Argument(metavar="PKG", help="The package that model apply has written.")]
Source = Annotated[str, typer.Argument(metavar="FILE.py:CLASS", help="The model; the file is executed as it is.")]
KernelSource = Literal["device", "lab"]


def command(
    package: Package,
    source: Source,
    kernels: Annotated[
        KernelSource, typer.Option("--kernels", help="Run them on this GPU, or in the lab on the processor.")
    ] = "device",
    draws: Annotated[int, typer.Option("--draws", min=20, help="Inputs on which outputs are compared.")] = 20,
    rounds: Annotated[int, typer.Option("--rounds", min=10, help="Rounds of timing; each times every mode once.")] = 60,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The answer as JSON; PKG/check.json by default.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare outputs with float64, time every mode side by side, and say what each kernel gives the model.

    Exit 1 where outputs are wrong or the model is slower.
    """
    from app.model_checking import checked
    from records.codec import to_plain

    found = checked(package, source, kernels, draws, rounds, note)
    answer = {**to_plain(found), "accepted": found.accepted, "sentence": found.sentence}
    place = out or package / "check.json"
    place.write_text(json_format.dumps(answer, indent=1) + "\n", encoding="utf-8")
    if json:
        emit(answer)
    else:
        rows = [[mode, f"{time_us:.1f} us"] for mode, time_us in sorted(found.times_us.items(), key=lambda row: row[1])]
        if rows:
            table(["mode", "median"], rows, right=(1,))
        for mode, reason in found.failed.items():
            say(f"{mode} does not run: {reason}")
        if found.outputs.decoding:
            say(found.outputs.decoding)
        say(found.sentence)
    if not found.accepted:
        raise typer.Exit(1)
