"""`tasks`: what there is to optimise."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import Json
from app.screen import emit, say

if TYPE_CHECKING:
    from tasks.task import Task, TensorSpec

WIDTH = 110  # of a line, in characters


def command(
    names: Annotated[list[str] | None, typer.Argument(
        metavar="[TASK]...", help="Names or folders; all shipped tasks by default.", show_default=False)] = None,
    lint: Annotated[bool, typer.Option("--lint", help="Look for weaknesses; exit 1 where there are any.")] = False,
    json: Json = False,
) -> None:
    """List the tasks with their shapes, types and seeds."""
    from tasks.loader import load_task, task_names

    loaded = [load_task(name) for name in names or task_names()]
    if lint:
        _lint(loaded, json)
        return
    if json:
        emit([_task_json(task) for task in loaded])
        return
    for number, task in enumerate(loaded):
        say(("" if number == 0 else "\n") + f"{task.name}: {task.title}")
        _row("targets", ", ".join(task.targets))
        _row("inputs", ", ".join(_tensor(t) for t in task.inputs))
        _row("outputs", ", ".join(_tensor(t) for t in task.outputs))
        if task.scalars:
            _row("scalars", ", ".join(f"{s.name}: {s.dtype} = {s.value:g}" for s in task.scalars))
        _row("tests", f"{len(task.tests)} cases")
        _row("benchmarks", "; ".join(case.name for case in task.benchmarks))
        _row("seeds", ", ".join(path.name for path in task.seeds))


def _row(name: str, text: str) -> None:
    say(fill(text, WIDTH, initial_indent=f"  {name:12}", subsequent_indent=" " * 14, break_long_words=False,
             break_on_hyphens=False))


def _tensor(spec: TensorSpec) -> str:
    layout = "" if spec.layout == "row_major" else ", column major"
    return f"{spec.name}: {spec.dtype}[{', '.join(spec.shape)}{layout}]"


def _task_json(task: Task) -> dict[str, Any]:
    def tensors(specs: tuple[TensorSpec, ...]) -> list[dict[str, Any]]:
        return [{"name": t.name, "dtype": t.dtype, "shape": list(t.shape), "layout": t.layout} for t in specs]

    return {
        "name": task.name, "title": task.title, "description": task.description, "targets": list(task.targets),
        "inputs": tensors(task.inputs), "outputs": tensors(task.outputs),
        "scalars": [{"name": s.name, "dtype": s.dtype, "value": s.value} for s in task.scalars],
        "tests": [dict(case.dims) for case in task.tests], "benchmarks": [dict(case.dims) for case in task.benchmarks],
        "seeds": [path.name for path in task.seeds], "folder": str(task.folder),
    }


def _lint(loaded: list[Task], json: bool) -> None:
    from tasks.linter import lint as problems_of

    found = {task.name: list(problems_of(task)) for task in loaded}
    if json:
        emit(found)
    else:
        for name, problems in found.items():
            say(f"{name}: {'sound' if not problems else ''}")
            for problem in problems:
                say(f"  {problem}")
    if any(found.values()):
        raise typer.Exit(1)
