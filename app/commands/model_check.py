"""`model check`: a model with and without its kernels, compared and timed as a whole."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.commands.options import Json
from app.screen import emit, note, say, table
from records.errors import MachineError, UsageError

if TYPE_CHECKING:
    from exports.models.check.model_verdict import ModelCheck

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
    from records.codec import to_plain

    result = checked(package, source, kernels, draws, rounds)
    answer = {**to_plain(result), "accepted": result.accepted, "sentence": result.sentence}
    answer_path = out or package / "check.json"
    answer_path.write_text(json_format.dumps(answer, indent=1) + "\n", encoding="utf-8")
    if json:
        emit(answer)
    else:
        rows = [
            [mode, f"{time_us:.1f} us"] for mode, time_us in sorted(result.times_us.items(), key=lambda row: row[1])
        ]
        if rows:
            table(["mode", "median"], rows, right=(1,))
        for mode, reason in result.failed.items():
            say(f"{mode} does not run: {reason}")
        say(f"outputs: right where {result.outputs.rule}; the truth is computed in {result.outputs.yardstick}")
        if result.outputs.decoding:
            say(result.outputs.decoding)
        say(result.sentence)
    if not result.accepted:
        raise typer.Exit(1)


def checked(package: Path, source: str, kernels_from: str, draws: int, rounds: int) -> ModelCheck:
    """Check the model in this process, which has PyTorch and the GPU; UsageError for what is no model or no package."""
    try:
        from exports.models.check.checking import CheckRules, check
        from exports.models.check.subject import read_subject
    except ImportError:
        raise UsageError(
            "a model is run by PyTorch, which is not installed here: kernel-scientist setup torch"
        ) from None
    subject = read_subject(package, source, kernels_from)
    try:
        return check(subject, CheckRules(draws, rounds), note)
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        text = " ".join(str(error).split())[:300]
        raise MachineError(f"the check of {source} ended in {type(error).__name__}: {text}") from None
