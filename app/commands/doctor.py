"""`doctor`: Say what this machine can do."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import Annotated

import typer

from app.commands.options import Json
from app.screen import console, emit, is_terminal, note, say
from records.outside_text import visible

STYLES = {"ok": "green", "warn": "yellow", "missing": "red"}


def command(
    warm: Annotated[
        bool, typer.Option("--warm", help="Only build what the compiler needs once; part of the set-up.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what this machine can do, with a remedy a line; exit 1 where something needed is missing."""
    from app.gpu_report import examine_amd, examine_fence, has_amd
    from app.machine import Capability, hardware, installation
    from app.settings import load_settings
    from sandbox.remote.pool import gpu_indices
    from sandbox.target import load_target, target_names

    settings = load_settings()
    if warm:
        from sandbox.amdgcn.toolchain import find_toolchain
        from sandbox.lab.lab_evaluator import LabEvaluator

        toolchain = find_toolchain(settings.cache_folder / "toolchain")
        toolchain.warm(note)
        LabEvaluator(toolchain, settings.cache_folder / "kernels", load_target("mi300x"), 0).warm(note)
        return
    lines: list[Capability] = []
    amd = examine_amd(settings.cache_folder) if has_amd() else ()
    targets = [target for target in map(load_target, target_names()) if gpu_indices(target)]
    fences = (examine_fence(target, settings.cache_folder / "kernels") for target in targets)
    for line in chain(hardware(settings), amd, fences, installation(settings)):
        lines.append(line)
        if not json:
            _print(line.state, f"{line.name:24} {line.found}")
            if line.remedy and line.state != "ok":
                say(f"{'':34}{line.remedy}")
    ready = not any(line.needed and line.state == "missing" for line in lines)
    if json:
        emit({"ready": ready, "lines": [asdict(line) for line in lines]})
    else:
        say("\nready" if ready else "\nnot ready: something that is needed is missing")
    if not ready:
        raise typer.Exit(1)


def _print(state: str, text: str) -> None:
    if is_terminal():
        from rich.text import Text

        console().print(Text.assemble((f"{state:8}", STYLES[state]), "  ", visible(text)), soft_wrap=True)
    else:
        say(f"{state:8}  {text}")
