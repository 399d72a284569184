"""`model run`: optimise the regions of a model under one budget, where the model gains most."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json, On
from app.screen import emit, note, say, table
from records.model_scan import read_scan

if TYPE_CHECKING:
    from app.model_running import ModelRunResult

Scan = Annotated[
    Path, typer.Argument(metavar="SCAN", help="The folder of model scan; tasks are made where it has none.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The package; ./CLASS_kernels by default.", show_default=False),
]


def command(
    scan: Scan,
    target: Annotated[str, typer.Option("--target", help="The GPU.")] = "mi300x",
    on: On = "auto",
    author: Annotated[
        str | None, typer.Option("--author", help="llm or playbook; llm where a model is configured.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0, help="For all regions together; earlier calls count.")
    ] = None,
    wall: Annotated[
        float | None, typer.Option("--wall", min=1, help="Seconds that the runs of this call may take.")
    ] = None,
    least_gain: Annotated[
        float, typer.Option("--least-gain", min=1, help="Stop where the rest is worth less to the model.")
    ] = 1.01,
    picks: Annotated[int, typer.Option("--picks", min=1, help="Experiments tried in a generation.")] = 3,
    seed: Annotated[int, typer.Option("--seed", help="Of every run.")] = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Drive one generation at a time, of the region whose next one is expected to give the model most for its cost.

    The same call goes on where one was stopped. At the end the package is written, as model apply does it. Exit 1 where
    no kernel makes the model faster.
    """
    from app.model_running import ModelRun, run_model, runs_to_apply, write_package
    from app.settings import load_settings

    settings = load_settings()
    request = ModelRun(scan, target, on, author, budget_usd, wall, least_gain, picks, seed, out)
    result = run_model(settings, request, note)
    runs = runs_to_apply(result)
    package = write_package(settings, request, runs) if runs else None
    if json:
        emit({**asdict(result), "apply": runs, "package": str(package or "")})
    else:
        _show(scan, result)
    if package is None:
        raise typer.Exit(1)
    if not json:
        say(f"{package}: as by kernel-scientist model apply {scan} {' '.join(runs)}")
        say(f"next: kernel-scientist model check {package} FILE.py:CLASS")


def _show(scan: Path, result: ModelRunResult) -> None:
    headings = ["region", "share", "gap", "roofline reached", "generations", "saves", "run"]
    rows = [
        [
            ", ".join(state.regions)[:40],
            f"{state.share:.1%}",
            f"{state.gap:.2f}x",
            f"{state.fraction:.0%}",
            str(max(0, len(state.fractions) - 1)),
            f"{state.gained:.1%}",
            state.run,
        ]
        for state in result.states
    ]
    table(headings, rows, right=(1, 2, 3, 4, 5))
    say(f"the model is expected to be {result.gain:.3f}x as fast, by the {read_scan(scan).times} times of its scan")
    say(result.reason)
