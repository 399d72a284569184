"""`tasks`: what there is to optimise."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import Json, shipped_tasks
from app.screen import emit, say, table
from records.quantity import counted

if TYPE_CHECKING:
    from tasks.task import ScalarSpec, Task, TensorSpec

WIDTH = 110  # of a line, in characters


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK]...",
            help="Names or folders; all shipped tasks by default.",
            show_default=False,
            autocompletion=shipped_tasks,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="With the types and seeds for this GPU, such as mi300x or h200; each task's first by default.",
            show_default=False,
        ),
    ] = None,
    lint: Annotated[bool, typer.Option("--lint", help="Look for weaknesses; exit 1 where there are any.")] = False,
    json: Json = False,
) -> None:
    """List the tasks; with names, show shapes, types and seeds of each. `tasks new` makes a task of a file."""
    loaded = _loaded(names, target)
    if lint:
        _lint(loaded, json)
        return
    if json:
        emit([_task_json(task, target or task.targets[0]) for task in loaded])
        return
    if not names:
        rows = [[t.name, ", ".join(t.targets), str(len(t.tests)), str(len(t.benchmarks)), t.title] for t in loaded]
        table(["task", "targets", "tests", "benchmarks", "title"], rows, right=[2, 3])
        return
    for number, task in enumerate(loaded):
        detail(task, target or task.targets[0], is_first=number == 0)


def detail(task: Task, target: str, *, is_first: bool = True) -> None:
    """Print shapes, types and seeds of a task."""
    say(("" if is_first else "\n") + f"{task.name}: {task.title}")
    _row("targets", ", ".join(task.targets))
    _row("inputs", ", ".join(_tensor(t) for t in task.inputs))
    _row("outputs", ", ".join(_tensor(t) for t in task.outputs))
    if task.scalars:
        _row("scalars", ", ".join(_scalar(s) for s in task.scalars))
    if task.golden:
        _row("answers", task.golden.text)
    _row("tests", counted(len(task.tests), "case"))
    _row("benchmarks", "; ".join(case.name for case in task.benchmarks))
    _row("seeds", f"for {target}: {', '.join(path.name for path in task.seeds) or 'none'}")


def _loaded(names: list[str] | None, target: str | None) -> list[Task]:
    """Load the named tasks, or all that are for the target; UsageError or TaskError in one sentence for none."""
    from app.settings import load_settings
    from app.task_folders import open_task
    from records.errors import UsageError
    from tasks.loader import load_task, task_names

    settings = load_settings()
    if target is None:
        return [open_task(settings, name) for name in names or task_names()]
    from sandbox.target import load_target

    gpu = load_target(target).name
    chosen = names or [name for name in task_names() if gpu in load_task(name).targets]
    if not chosen:
        raise UsageError(f"no shipped task is for {gpu}")
    return [open_task(settings, name, gpu) for name in chosen]


def _row(name: str, text: str) -> None:
    say(
        fill(
            text,
            WIDTH,
            initial_indent=f"  {name:12}",
            subsequent_indent=" " * 14,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _scalar(spec: ScalarSpec) -> str:
    return f"{spec.name}: {spec.dtype}" + ("" if spec.value is None else f" = {spec.value:g}")


def _tensor(spec: TensorSpec) -> str:
    layout = "" if spec.layout == "row_major" else ", column major"
    layout = f"; strides {', '.join(spec.strides)}" if spec.strides else layout
    return f"{spec.name}: {spec.dtype}[{', '.join(spec.shape)}{layout}]"


def _task_json(task: Task, target: str) -> dict[str, Any]:
    def tensors(specs: tuple[TensorSpec, ...]) -> list[dict[str, Any]]:
        return [_tensor_json(t) for t in specs]

    return {
        "name": task.name,
        "title": task.title,
        "description": task.description,
        "targets": list(task.targets),
        "target": target,
        "inputs": tensors(task.inputs),
        "outputs": tensors(task.outputs),
        "scalars": [{"name": s.name, "dtype": s.dtype, "value": s.value} for s in task.scalars],
        "tests": [dict(case.dims) for case in task.tests],
        "benchmarks": [dict(case.dims) for case in task.benchmarks],
        "seeds": [path.name for path in task.seeds],
        "folder": str(task.folder),
    }


def _tensor_json(spec: TensorSpec) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": spec.name, "dtype": spec.dtype, "shape": list(spec.shape), "layout": spec.layout}
    extra = {"strides": list(spec.strides), "optional": spec.optional, "initial": spec.initial}
    return fields | {name: value for name, value in extra.items() if value}


def _lint(loaded: list[Task], json: bool) -> None:
    from tasks.linter import lint as problems_of

    problems_by_task = {task.name: list(problems_of(task)) for task in loaded}
    if json:
        emit(problems_by_task)
    else:
        for name, problems in problems_by_task.items():
            say(f"{name}: {'sound' if not problems else ''}")
            for problem in problems:
                say(f"  {problem}")
    if any(problems_by_task.values()):
        raise typer.Exit(1)
