"""`check`: Judge one kernel file: compile, verify and time it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.options import Json, KernelFile, On, Shapes, TargetName, TunableValues, shipped_tasks, tunables_of
from app.screen import emit, say
from records.errors import UsageError
from records.stopping import StopSignal, stoppable

ForTask = Annotated[
    str,
    typer.Option(
        "--task", help="A task's name or the path of its folder.", show_default=False, autocompletion=shipped_tasks
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Round matrix instructions as the hardware does; slower.")]
Whole = Annotated[
    bool,
    typer.Option("--whole", help="Execute the benchmark cases whole, as a run does with a kernel that leads; slower."),
]
WholeSeconds = Annotated[
    float,
    typer.Option(
        "--whole-seconds",
        metavar="N",
        min=0.0,
        show_default=False,
        help="Processor time for --whole, 120 by default; a case that its part does not allow is sampled. Implies it.",
    ),
]
Keep = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="DIR",
        show_default=False,
        help="Keep the lab's files in this folder: the assembly listing, the code object, the decoded program, "
        "requests and results; its README.txt names each.",
    ),
]


def command(
    file: KernelFile,
    task: ForTask = "",
    target: TargetName = "mi300x",
    on: On = "lab",
    seed: Annotated[int, typer.Option("--seed", help="Drives the held-out inputs.")] = 0,
    set_: TunableValues = None,
    exact: Exact = False,
    shape: Shapes = None,
    whole: Whole = False,
    whole_seconds: WholeSeconds = 0.0,
    keep: Keep = None,
    json: Json = False,
) -> None:
    """Compile, verify and time one kernel; exit 0 if it is accepted, 1 if not."""
    from app.judged import judge
    from app.settings import load_settings
    from app.task_folders import open_task
    from app.verdict import show, verdict_json
    from sandbox.candidate.guessed_branches import guesses_text
    from sandbox.candidate.kernel_file import read_kernel

    source, file, _ = read_kernel(file)
    advice = _advice_without_plan(file, source)
    if not task:
        raise UsageError(advice or f"name the task of {file} with --task: a name of `tasks`, or a task's folder")
    settings, chosen = load_settings(), tunables_of(set_ or [])
    options: dict[str, Any] = {"seed": seed, "tunables": chosen, "shapes": shape or (), "exact": exact, "keep": keep}
    whole_options: dict[str, Any] = {"is_whole": whole or whole_seconds > 0, "whole_s": whole_seconds}
    stop = StopSignal()
    with stoppable(stop):
        evaluation = judge(settings, source, task, target, on, **options, **whole_options, stop=stop)
    golden = open_task(settings, task).golden
    more = {"golden": golden.text if golden else "", "note": guesses_text(source).rstrip("."), "advice": advice}
    more = {key: text for key, text in more.items() if text}
    if json:
        emit(verdict_json(evaluation) | more)
    else:
        show(evaluation, source, file.name)
        for text in more.values():
            say(f"\n{text}.")
    if not evaluation.verdict.accepted:
        raise typer.Exit(1)


def _advice_without_plan(file: Path, source: str) -> str:
    """Say how a kernel without a launch plan is judged; empty for one that has a plan."""
    from app.open_questions import command_words, with_offers
    from app.optimising import PLAN, UserFile
    from imports.readers import KERNELS

    if file.suffix not in KERNELS or source.lstrip("\ufeff \n").startswith(PLAN):
        return ""
    complete, _ = with_offers(UserFile(str(file)))
    return (
        f"{file} has no launch plan, and needs none where you say what it computes; to have it verified and made "
        f"faster, type kernel-scientist optimise {command_words(complete)}"
    )
