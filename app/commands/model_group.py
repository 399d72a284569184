"""`model`: From a model to the kernels that its time goes to, and back."""

from __future__ import annotations

import typer

from app.commands import model_scan, model_tasks

app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Find the regions of a model that are worth a kernel of your own."
)
app.command("scan", short_help="List a model's regions with their share of the time, the largest gain first.")(
    model_scan.command
)
app.command("tasks", short_help="Make a verified task for each chosen region of a scan.")(model_tasks.command)
