"""`setup`: Add what some imports need: PyTorch for the processor, pinned with its hash."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.screen import note, say


def command(
    what: Annotated[
        Literal["torch"], typer.Argument(metavar="torch", help="PyTorch for the processor, for PyTorch files.")
    ],
) -> None:
    """Install PyTorch's small wheel for the processor; files of HIP, CUDA and NumPy do without it."""
    from app.torch_wheel import install, installed_version, refuse_full_disk, torch_wheel

    if version := installed_version():
        say(f"PyTorch {version} is there already")
        return
    wheel = torch_wheel()
    refuse_full_disk(wheel, Path(sys.prefix))
    note(
        f"fetching {wheel.download_mb} MB from {wheel.index}: PyTorch {wheel.version}, for the processor, checked "
        f"against its hash; it takes {wheel.installed_mb} MB in {sys.prefix}"
    )
    install(wheel)
    say(f"PyTorch {wheel.version} is installed")
