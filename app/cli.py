"""The command line. Heavy libraries are imported inside the commands, so that `--help` is instant.

Exit codes: 0 yes, 1 a clean no, 2 the command or its input cannot be, 3 the machine is at fault, 130 interrupted,
141 the output has no reader any more.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import ModuleType

import typer

from app.commands import (
    ablate,
    cache_command,
    calibrate,
    check,
    cluster_command,
    completion,
    demo,
    doctor,
    export,
    isa,
    knowledge_command,
    ledger_command,
    mcp_command,
    memory_command,
    model_group,
    optimise,
    preferences,
    report_command,
    resume,
    run,
    runs,
    serve,
    setup,
    status,
    stop,
    tasks_group,
    test,
)
from app.screen import emit, hush, is_unread, note
from records.disk_room import is_out_of_room, room_sentence
from records.errors import MachineError, ScientistError
from records.program_version import program_version
from records.scratch_folder import leave
from records.stopping import StopSignal, stoppable

INTERRUPTED = 130
GARBAGE = 50_000  # new objects between two looks for cycles: libraries make many at their import, and few cycles
UNREAD = 141  # what a shell says of a tool that SIGPIPE ended; no verdict, for 0 and 1 are those
NAME = "kernel-scientist"

app = typer.Typer(
    name=NAME,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Make GPU kernels faster: a graph of agents plans, writes, verifies, tunes and times them.\n\n"
    "Exit codes: 0 yes, 1 a clean no, 2 wrong usage, 3 the machine is at fault, 130 interrupted.",
)


def _purpose(module: ModuleType) -> str:
    """Describe a command in a few words: its file's docstring after the name."""
    return (module.__doc__ or "").split(": ", 1)[1].strip()


def _register(module: ModuleType) -> None:
    name = module.__name__.rsplit(".", 1)[1].removesuffix("_command")
    app.command(name, short_help=_purpose(module))(module.command)


for _module in (
    demo,
    optimise,
    run,
    resume,
    status,
    stop,
    serve,
    ablate,
    check,
    calibrate,
    isa,
    report_command,
    export,
    preferences,
):
    _register(_module)
app.add_typer(tasks_group.app, name="tasks", short_help=_purpose(tasks_group))
app.add_typer(model_group.app, name="model", short_help=_purpose(model_group))
app.add_typer(runs.app, name="runs", short_help=_purpose(runs))
app.add_typer(knowledge_command.app, name="knowledge", short_help=_purpose(knowledge_command))
app.add_typer(memory_command.app, name="memory", short_help=_purpose(memory_command))
app.add_typer(ledger_command.app, name="ledger", short_help=_purpose(ledger_command))
app.add_typer(cache_command.app, name="cache", short_help=_purpose(cache_command))
for _module in (cluster_command, mcp_command, setup, doctor, completion, test):
    _register(_module)


@app.callback()
def _edge(version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True)) -> None:
    """Make GPU kernels faster."""


def main() -> None:
    """Run the console script. Threads that wait for a network do not hold the exit: all records are on the disk."""
    gc.set_threshold(GARBAGE, 20, 20)
    # Threads of numpy's BLAS that have nothing to do sleep at once; they would spin first, at its import too.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it reads about every package to look for some
    signals = list[str]()
    with stoppable(
        StopSignal(), lambda: signals.append("one")
    ):  # not told from the handler: it may come in the middle of a line
        code = run_command(sys.argv[1:])
    if signals and code == INTERRUPTED:  # `serve` ends so in order
        note(f"{NAME}: interrupted")
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = UNREAD
    hush()
    gc.freeze()  # the interpreter would look through all that is left for cycles, more than once, at its end
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        leave(code)
    sys.exit(code)


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every fault becomes one sentence on standard error."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        return UNREAD


def _run(arguments: Sequence[str]) -> int:
    """Run one command; BrokenPipeError where the output has no reader."""
    try:
        if list(arguments[:1]) == ["--version"]:
            sys.stdout.write(f"{NAME} {program_version()}\n")
            return 0
        return _invoke(arguments)
    except typer.TyperException as error:
        return _usage(error)
    except ScientistError as error:
        message = _room(error) or " ".join(str(error).split())
        note(f"{NAME}: {message}")
        if "--json" in arguments:
            emit({"error": message, "exit_code": error.exit_code})
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # the outermost edge: the only place that catches everything
        if isinstance(error, BrokenPipeError) and is_unread():
            raise
        if full := _room(error):
            note(f"{NAME}: {full}")
            return MachineError.exit_code
        note(
            f"{NAME}: an unexpected {type(error).__name__} stopped the program; this is a fault in it, "
            f"please report the file {_keep(error)}"
        )
        return MachineError.exit_code


def _room(error: Exception) -> str:
    """Say in a sentence that a disk is full, which goes before every other cause; empty where none is."""
    if isinstance(error, ScientistError) and not isinstance(error, MachineError) and not is_out_of_room(error):
        return ""
    folders = [Path.cwd()]
    with suppress(ScientistError, OSError):
        from app.settings import load_settings

        settings = load_settings()
        folders = [settings.runs_folder, settings.cache_folder, settings.knowledge, Path(tempfile.gettempdir())]
    return room_sentence(error, folders)


def _invoke(arguments: Sequence[str]) -> int:
    streams = sys.stdout, sys.stderr
    if completion.is_asked():
        completion.prepare()
    try:
        return int(app(args=list(arguments), prog_name=NAME, standalone_mode=False) or 0)
    except SystemExit as end:  # typer's answer to every broken pipe, ours or not: exit 1, which here is a clean no
        sys.stdout, sys.stderr = streams
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        raise


def _usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{context.get_help()}\n" if context is not None else "")
        return 2
    path = context.command_path if context is not None else NAME
    note(f"{NAME}: {error.format_message().replace('Value error, ', '').rstrip('.')}; try `{path} --help`")
    return error.exit_code


def _keep(error: BaseException) -> Path:
    """Save the traceback where it can be attached to a report; it names code, never values of variables."""
    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix=f"kernel-scientist-{datetime.now():%Y%m%d-%H%M%S}-", suffix=".log", delete=False
    ) as file:
        file.write(text)
    return Path(file.name)
