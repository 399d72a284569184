"""`optimise`: Make a file of yours faster: a HIP or CUDA kernel, a PyTorch or NumPy function, a problem, a task."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import AuthorName, Beat, Budget, Json, MaxWallSeconds, On, Quiet, RunSeed, TargetName
from app.screen import emit, note, say

if TYPE_CHECKING:
    from app.optimising import OwnFiles, StartingPoint, UserFile
    from app.run_request import RunRequest
    from app.session import RunResult, Session
    from app.settings import Settings

GENERATIONS = 3
Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE[:NAME]",
        help="A HIP or CUDA file with or without its host half, a file with a PyTorch or NumPy function, a KernelBench "
        "problem, a folder of another form, or a task's name or folder.",
        show_default=False,
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=TYPE[DIM,...]|NAME=NUMBER",
        help="An input: x=f32[rows,cols], ids=i64[rows]:vocab (below vocab), eps=1e-5. Asked for where it is missing.",
        show_default=False,
    ),
]
Sizes = Annotated[
    list[str] | None, typer.Option("--size", metavar="DIM=N,...", help="The sizes to be fast for.", show_default=False)
]
Reference = Annotated[
    str,
    typer.Option(
        "--reference",
        metavar="FILE.py[:FUNCTION]",
        help="A NumPy or PyTorch function of what a HIP or CUDA file computes.",
        show_default=False,
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="NAME", help="A buffer of a HIP file that is a result.", show_default=False),
]
Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="EXPRESSION",
        help="Of a kernel without host half: workgroups along an axis, as ceil_div(n, 256).",
        show_default=False,
    ),
]
Block = Annotated[
    list[str] | None,
    typer.Option(
        "--block", metavar="N", help="Of such a kernel: work-items of a workgroup along an axis.", show_default=False
    ),
]
ForTask = Annotated[
    str, typer.Option("--task", help="Of a kernel with a launch plan: the task that it is for.", show_default=False)
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
ToleranceText = Annotated[
    str,
    typer.Option(
        "--tolerance",
        metavar="RTOL[,ATOL]",
        help="A limit for every element, beside the error of the standard implementation.",
        show_default=False,
    ),
]


def command(
    source: Source,
    input_: Inputs = None,
    size: Sizes = None,
    reference: Reference = "",
    output: Outputs = None,
    grid: Grid = None,
    block: Block = None,
    task: ForTask = "",
    tolerance: ToleranceText = "",
    argv: CommandLine = "",
    name: Annotated[str, typer.Option("--name", help="Of the result; else the function's or the file's.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The new folder; NAME-optimised by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over an earlier result.")] = False,
    target: TargetName = "mi300x",
    on: On = "auto",
    author: AuthorName = None,
    generations: Annotated[
        int, typer.Option("--generations", min=1, help="Stop after so many generations.")
    ] = GENERATIONS,
    budget_usd: Budget = None,
    beat: Beat = None,
    max_wall_seconds: MaxWallSeconds = None,
    seed: RunSeed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make it a task, search for a faster kernel, and write that with your own signature; exit 1 where none is faster.

    At a terminal it asks for what the file does not say; elsewhere it names the whole command to type.
    """
    from app.optimising import FOLDER, UserFile, prepare_in
    from app.run_request import RunRequest
    from app.settings import load_settings

    inputs, sizes, outputs, axes, items = (tuple(words or ()) for words in (input_, size, output, grid, block))
    user_file = UserFile(source, inputs, sizes, reference, outputs, axes, items, task, tolerance, name, argv)
    settings = load_settings()
    user_file, author = _answered(settings, user_file, author)
    folder = out or Path(f"{user_file.title}{FOLDER}")
    start = prepare_in(settings, user_file, folder, force)
    for text in start.notes:
        note(f"  {text}")
    most, limits = {"max_wall_seconds": max_wall_seconds}, {"generations": generations}
    fixed = start.task, target, on, author, seed, budget_usd, limits
    request = RunRequest(*fixed, starts=start.starts, beat=tuple(beat or ()), most=most)
    _search(settings, request, start, folder, force=force, quiet=quiet, json=json)


def _answered(settings: Settings, user_file: UserFile, author: str | None) -> tuple[UserFile, str | None]:
    """Ask at a terminal for what is not said; elsewhere UsageError with the whole command."""
    from app.asking import can_ask, choose, complete
    from app.open_questions import next_question, refuse_open

    if next_question(user_file) is None:
        return user_file, author
    if not can_ask():
        refuse_open(user_file, "kernel-scientist optimise")
    user_file = complete(user_file)
    if not user_file.tolerance and not user_file.is_kernel:
        words = "tolerance of every element, as 1e-3 or 1e-3,1e-5, or none beside the standard implementation's error"
        line = choose(words, "none")
        user_file = user_file if line == "none" else replace(user_file, tolerance=line)
    if author is None and settings.has_model:
        author = choose("author", "llm", ("llm", "playbook"))
    return user_file, author


def _search(
    settings: Settings, request: RunRequest, start: StartingPoint, folder: Path, *, force: bool, quiet: bool, json: bool
) -> None:
    """Search, print what came of it, and write it."""
    from app.commands.run import drive
    from app.optimising import write_result
    from app.session import open_session

    with open_session(settings, request) as session:
        result = drive(session, settings, json, chosen=request.author is None, quiet=quiet)
        result_files = None
        if result.best is not None:
            result_files = write_result(settings, result.run_id, folder, force)
        if json:
            emit({**asdict(result), "written": None if result_files is None else _fields(result_files, folder)})
        else:
            _print(session, result, result_files, folder)
        line = result.headline
        is_gain = line.gain is not None and line.gain > 1 and not line.is_tie
        if result_files is None or (start.has_own_kernel and not is_gain):
            raise typer.Exit(1)


def _fields(result_files: OwnFiles, folder: Path) -> dict[str, object]:
    return {
        "path": str(result_files.path),
        "folder": str(folder),
        "files": [str(path) for path in result_files.files],
        "remark": result_files.remark,
    }


def _print(session: Session, result: RunResult, result_files: OwnFiles | None, folder: Path) -> None:
    """Print the run's outcome; at the end the gain, where the file is, and how to go on."""
    from app.outcome import print_outcome

    print_outcome(result, session)
    run = session.run
    say()
    say(f"result       {result.headline.text}")
    if result_files is not None:
        say(f"file         {result_files.path}   ({result_files.line})")
        if result_files.remark:
            say(f"             no file of your own form: {result_files.remark}")
        say(f"report       {folder / 'report.html'}")
    more = int(str(run.config.get("generations", GENERATIONS))) * 2
    out = shlex.quote(str(folder))
    say(f"go on        kernel-scientist resume {run.id} --generations {more}")
    say(f"             kernel-scientist export {run.id} --as own --out {out} --force")
    if run.author != "llm":
        task = shlex.quote(str(folder / "task") if "/" in run.task else run.task)
        say(f"with a model kernel-scientist run {task} --from {out}/best.hip --author llm   (set OPENAI_API_KEY first)")
