"""`model`: From a model to the kernels that its time goes to, and back."""

from __future__ import annotations

import typer

from app.commands import model_apply, model_check, model_run, region_tasks, scan_command

app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Find the regions of a model that are worth a kernel of your own."
)
app.command("scan", short_help="List a model's regions with their share of the time, the largest gain first.")(
    scan_command.command
)
app.command("tasks", short_help="Make a verified task for each chosen region of a scan.")(region_tasks.command)
app.command("run", short_help="Optimise the regions under one budget, where the model gains most.")(model_run.command)
app.command("apply", short_help="Write a package that puts verified kernels into the model.")(model_apply.command)
app.command("check", short_help="Compare and time the whole model with and without the kernels.")(model_check.command)
