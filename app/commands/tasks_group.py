"""`tasks`: List what there is to optimise, and make tasks of your files."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from app.commands import tasks_command, tasks_new

SHOW = "show"


class TaskCommands(TyperGroup):
    """`show` may be left out: what is no command is the name of a task."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments with the command that they mean."""
        if not args or args[0] not in self.commands:
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=TaskCommands, rich_markup_mode=None, help="List the tasks, lint them, or make a new one from a file."
)
app.command(SHOW, short_help="List the tasks; with names, show shapes, types and seeds of each.")(tasks_command.command)
app.command("new", short_help="Make a task of a PyTorch, NumPy or KernelBench file.")(tasks_new.command)
