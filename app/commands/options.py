"""Options that several commands take, described once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from records.errors import UsageError

Value = TypeVar("Value")


def shipped_tasks() -> list[str]:
    """Names for a shell to complete; read from the folders, because a shell waits for them."""
    return sorted(path.parent.name for path in (Path(__file__).parents[2] / "tasks").glob("*/task.toml"))


def known_runs() -> list[str]:
    """Names for a shell to complete, the newest first."""
    from app.settings import load_settings
    from records.errors import ScientistError

    try:
        folder = load_settings().runs_folder
        run_ids = sorted((path.parent.name for path in folder.glob("*/events.jsonl")), reverse=True)
    except (ScientistError, OSError):
        return []
    return ["last", *run_ids]


def named_values(pairs: Sequence[str], kind: Callable[[str], Value], form: str) -> dict[str, Value]:
    """Parse the values of options that are `NAME=VALUE`; UsageError with the form for a word that is none."""
    values: dict[str, Value] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            values[name.strip()] = kind(value)
        except ValueError:
            raise UsageError(f"{form}, not {pair!r}") from None
    return values


def limit_values(pairs: Sequence[str]) -> dict[str, float]:
    """Limits of `--limit NAME=VALUE`. Names and ranges are checked with the others."""
    return named_values(pairs, float, "--limit takes NAME=VALUE with a number")


def tunables_of(pairs: Sequence[str]) -> dict[str, int]:
    """Parse the choices of `--set NAME=VALUE`; UsageError for another form."""
    return named_values(pairs, int, "--set takes NAME=VALUE with a whole number")


def seconds_of(text: str | float) -> float:
    """Seconds of a time such as 90, 90s, 15m, 8h or 2d; BadParameter for another text."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", str(text).strip())
    if match is None:
        raise typer.BadParameter(f"a time is a number with s, m, h or d behind it, such as 8h, not {text!r}")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]


optional = partial(typer.Option, show_default=False)  # None, its default, says that it was not given

Json = Annotated[bool, typer.Option("--json", help="Print one JSON answer on standard output.")]
TargetName = Annotated[str, typer.Option("--target", help="The GPU to optimise for, such as mi300x or h200.")]
On = Annotated[
    str,
    typer.Option(
        "--on",
        help="Where verdicts come from: lab (needs no GPU), device (a GPU of this machine), spool:DIR or "
        "worker:HOST:PORT (a GPU elsewhere), or auto (device where there is one, else lab).",
    ),
]
TaskName = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        help="A task's name or the path of a task folder.",
        show_default=False,
        autocompletion=shipped_tasks,
    ),
]
KernelFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The kernel: one .hip, .py (Triton) or .s file with its launch plan; FILE.py:NAME names one in it.",
        show_default=False,
    ),
]
TunableValues = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Choose a tunable; may be given several times.")
]
Isolation = Annotated[
    str | None,
    optional(
        "--isolation",
        metavar="strict|limits",
        help="strict, the default, refuses a machine that cannot keep files and network from kernels; limits does not.",
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape", metavar="DIM=N,DIM=N", help="Verify this shape too, like a test; may be given several times."
    ),
]
Starts = Annotated[
    list[Path] | None,
    typer.Option(
        "--from", metavar="FILE", help="Begin with this kernel beside the task's seeds; may be given several times."
    ),
]
Beat = Annotated[
    list[str] | None,
    typer.Option(
        "--beat",
        metavar="NAME",
        help="Compare the best kernel with this, in turns on a GPU: torch.compile, torch-eager, library:EXPRESSION, "
        "FILE.hip, FILE.so; may be given several times.",
    ),
]
Ablations = Annotated[
    int | None, optional("--ablations", min=0, max=1, help="0: ask for no cause of a gain; 1, the default: undo it.")
]
Explorations = Annotated[
    int | None,
    optional(
        "--explorations",
        min=0,
        help="Estimates for known changes of a kernel and its tunables together; 24 when not given, 0: none.",
    ),
]
Tunings = Annotated[
    int | None, optional("--tunings", min=1, help="Choices of tunables estimated for a kernel; 24 when not given.")
]
Search = Annotated[
    str | None,
    optional(
        "--search",
        metavar="NAME",
        help="A published search in place of the default one: paper, fsr or seki; other options still count.",
    ),
]
LimitValues = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help="Any limit of a run by its name, such as islands=3 or attainable_fraction=0; may be given several times.",
    ),
]
Budget = Annotated[
    float | None,
    optional(
        "--budget-usd",
        min=0,
        help="Stop before the model costs more; KERNEL_SCIENTIST_BUDGET_USD, or 5, when not given.",
    ),
]
MaxTokens = Annotated[
    int | None, optional("--max-tokens", min=0, help="End before prompts and answers have more tokens.")
]
MaxCalls = Annotated[int | None, optional("--max-calls", min=0, help="End before more requests to the model.")]
MaxEvaluations = Annotated[
    int | None,
    optional(
        "--max-evaluations",
        min=0,
        help="End after so many compilations, estimates, verifications and benchmarks; a tenth is kept to verify.",
    ),
]
MaxGpuSeconds = Annotated[
    float | None, optional("--max-gpu-seconds", min=0, help="End after so long on a GPU; a tenth is kept to verify.")
]
MaxWallSeconds = Annotated[
    float | None,
    optional(
        "--max-wall-seconds",
        metavar="TIME",
        parser=seconds_of,
        help="End after so long, as 3600, 90m or 8h; a tenth, 10 minutes at most, is kept to verify.",
    ),
]
NoSeeds = Annotated[bool, typer.Option("--no-seeds", help="Begin with the kernels of --from alone.")]
AuthorName = Annotated[
    str | None,
    optional(
        "--author",
        metavar="llm|playbook|command:PROGRAM ARG...",
        help="A model, known changes, or a coding agent of yours; llm when a model is configured, else playbook.",
    ),
]
Tries = Annotated[
    int | None,
    optional(
        "--tries",
        min=0,
        max=100,
        help="Kernels a model or program may check in an experiment; 0: no tools. KERNEL_SCIENTIST_TRIES, or 4.",
    ),
]
MemoryTokens = Annotated[
    int | None,
    optional(
        "--memory",
        metavar="TOKENS",
        min=0,
        help="Most tokens of a prompt for findings of earlier runs, 600; 0: none are told, and this run leaves none.",
    ),
]
NoDispatch = Annotated[
    bool, typer.Option("--no-dispatch", help="End with the best single kernel; make no table of kernels by shape.")
]
FromMemory = Annotated[
    bool,
    typer.Option(
        "--from-memory", help="Begin with the winners of earlier runs on this task and target, verified again, too."
    ),
]
Approve = Annotated[
    bool,
    typer.Option("--approve", help="Ask before the experiments of each generation, and before money above the budget."),
]
RunId = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the beginning of one, or `last`.",
        show_default=False,
        autocompletion=known_runs,
    ),
]
RunIds = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Ids, or their beginnings.", show_default=False, autocompletion=known_runs),
]
Generations = Annotated[int, typer.Option("--generations", min=1, help="Stop after so many generations.")]
RunSeed = Annotated[int, typer.Option("--seed", help="Drives every random choice of the run.")]
Trace = Annotated[bool, typer.Option("--trace", help="Send traces to LangSmith, with keys removed.")]
Detach = Annotated[
    bool,
    typer.Option("--detach", help="Run in the background, beyond this terminal; `status` shows it, `stop` pauses it."),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print the result alone, without progress.")]
