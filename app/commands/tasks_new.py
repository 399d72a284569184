"""`tasks new`: a task made of somebody's PyTorch, NumPy or KernelBench file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json
from app.screen import emit, say

if TYPE_CHECKING:
    from tasks.task import Task

Name = Annotated[str, typer.Argument(metavar="NAME", help="The new task's name.")]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE[:FUNCTION]",
        help="A file with a PyTorch module or function, a NumPy function, a KernelBench problem, a FlashInfer-Bench "
        "definition, or HIP kernels with their host half; or a task folder of robust-kbench or GPU MODE.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=TYPE[DIM,...][:LIMIT]",
        help="An input, in the function's order, where the file has no get_inputs(); whole numbers below a limit, as "
        "ids=i64[rows]:vocab.",
        show_default=False,
    ),
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="DIM=N,...", help="The sizes to be fast for, with --input.", show_default=False),
]
Reference = Annotated[
    str,
    typer.Option(
        "--reference",
        metavar="FILE.py[:FUNCTION]",
        help="A NumPy or PyTorch function of what a HIP file computes; its parameters have the names of the buffers.",
        show_default=False,
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="NAME", help="A buffer of a HIP file that is a result.", show_default=False),
]
Recorded = Annotated[
    bool,
    typer.Option(
        "--golden",
        help="Record the function's answers for a few draws in place of stating it in NumPy: weaker, for what cannot "
        "be traced.",
    ),
]
CommandLine = Annotated[
    str,
    typer.Option(
        "--argv",
        metavar="WORDS",
        help="The command line with which a HIP file's program is executed.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The new folder; ./NAME by default.", show_default=False)
]
Licence = Annotated[str, typer.Option("--licence", help="The licence of the file, as SPDX writes it.")]
Commit = Annotated[str, typer.Option("--commit", help="The commit of its repository.")]


def command(
    name: Name,
    source: From,
    input_: Inputs = None,
    size: Sizes = None,
    reference: Reference = "",
    output: Outputs = None,
    argv: CommandLine = "",
    golden: Recorded = False,
    out: Out = None,
    licence: Licence = "",
    commit: Commit = "",
    json: Json = False,
) -> None:
    """Make a task folder of a file: reference, cases, tolerance and, where possible, a naive kernel that passes."""
    from app.new_folder import refuse_taken
    from app.settings import load_settings
    from app.task_making import TaskWish, arguments_of, folder_of, import_place, make_task
    from imports.declared_inputs import declared

    folder = folder_of(name, out)
    refuse_taken(folder)
    wish = TaskWish(
        name,
        import_place(source),
        declared(input_ or [], size or []),
        reference,
        tuple(output or ()),
        licence,
        commit,
        golden,
        arguments=arguments_of(argv),
    )
    task, notes = make_task(load_settings(), wish, folder)
    if json:
        seeds = [p.name for p in task.seeds]
        emit({"folder": str(folder), "name": task.name, "notes": list(notes), "seeds": seeds})
        return
    _show(folder, task, notes)


def _show(folder: Path, task: Task, notes: tuple[str, ...]) -> None:
    from app.commands.tasks_command import detail

    detail(task, task.targets[0])
    for text in (f"operations: {task.flops}", f"bytes: {task.bytes_moved}", *notes):
        say(f"  {text}")
    tolerance = task.tolerance
    gate = (
        f", and every element within {tolerance.rtol:g} of its size plus {tolerance.atol:g}" if tolerance.rtol else ""
    )
    say(f"  tolerance: {tolerance.ratio:g} times the error of the same in the task's own types{gate}")
    say(f"{folder}: sound; next: kernel-scientist run {folder if folder.is_absolute() else f'./{folder}'}")
