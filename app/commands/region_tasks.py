"""`model tasks`: a verified task for each chosen region of a scan, through the import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import Json
from app.screen import emit, note, say

Scan = Annotated[Path, typer.Argument(metavar="SCAN", help="The folder that model scan has written.")]
Regions = Annotated[
    list[str] | None,
    typer.Option("--region", metavar="NAME", help="A region by its name; again for more.", show_default=False),
]
Top = Annotated[
    int | None,
    typer.Option("--top", min=1, help="So many, the largest gain first; else all that gain 0.2 %.", show_default=False),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where the tasks go; SCAN/tasks by default.")]


def command(scan: Scan, region: Regions = None, top: Top = None, out: Out = None, json: Json = False) -> None:
    """Make tasks of regions; benchmark cases are the shapes that occur, weighted by their share of the time."""
    from app.model_tasks import TASKS, chosen_regions, tasks_of, write_tasks
    from app.settings import load_settings
    from records.errors import UsageError
    from records.model_scan import read_scan

    record = read_scan(scan)
    chosen = chosen_regions(record, region or [], top)
    if not chosen:
        raise UsageError(f"no region of {scan} gains the model 0.2 %: name one with --region")
    place = out or scan / TASKS
    place.mkdir(parents=True, exist_ok=True)
    tasks = []
    for number, task in enumerate(tasks_of(load_settings(), scan, chosen, place), 1):
        tasks.append(task)
        note(f"{number} of {len(chosen)}: {task.region}: {task.folder or f'no task: {task.reason}'}")
    write_tasks(place / "tasks.json", tasks)
    if json:
        emit([{"region": t.region, "task": str(t.folder or ""), "reason": t.reason} for t in tasks])
    else:
        for task in tasks:
            for text in task.notes:
                say(f"{task.region}: {text}")
            say(f"{task.region}: {f'no task: {task.reason}' if task.folder is None else task.folder}")
    if not any(task.folder for task in tasks):
        raise typer.Exit(1)
