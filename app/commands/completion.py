"""`completion`: Print a script that completes commands, options, tasks and runs in a shell."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from records.errors import UsageError

NAME = "kernel-scientist"
VARIABLE = "_KERNEL_SCIENTIST_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


def command(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.", show_default=False)],
) -> None:
    """Print a completion script: `eval "$(kernel-scientist completion bash)"`; for fish, pipe it into `source`."""
    from typer._completion_shared import get_completion_script

    if shell not in SHELLS:
        raise UsageError(f"there are scripts for {', '.join(SHELLS)}, not for {shell!r}")
    script = get_completion_script(prog_name=NAME, complete_var=VARIABLE, shell=shell)
    launcher = Path(sys.executable).with_name(NAME)  # which a shell need not have on its path
    program = shlex.quote(str(launcher if launcher.exists() else Path(sys.argv[0]).absolute()))
    for before in ("complete_bash $1 ", f"complete_zsh {NAME}", f"(commandline -cp) {NAME}"):
        script = script.replace(before, f"{before.split(' ')[0]}{' -cp) ' if 'cp)' in before else ' '}{program} ")
    sys.stdout.write(f"{script}\n")


def is_asked() -> bool:
    """Tell whether a shell asks for words, through a script of this command."""
    return VARIABLE in os.environ


def prepare() -> None:
    """Have the command line answer in the form that the shells read."""
    from typer._completion_classes import completion_init

    completion_init()
