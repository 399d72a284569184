"""`test`: Run what continuous integration runs, in a checkout."""

from __future__ import annotations

import importlib.util
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, TextIO

import typer

from app.chromium import install_browser
from app.commands.options import Json
from app.screen import emit, is_unread, note
from records.errors import MachineError, UsageError

ROOT = Path(__file__).resolve().parents[2]
MODULES = {  # what the checks are, and the module each one comes in
    "clang-format": "clang_format",
    "lint-imports": "importlinter",
    "mypy": "mypy",
    "pytest": "pytest",
    "pytest-xdist": "xdist",
    "ruff": "ruff",
}
PYTEST = (sys.executable, "-m", "pytest")
MAIN = ("-m", "not long", "--unless-passed")
FAST = ("-m", "not long and not slow", "--without-compiler", "--unless-passed", "-r", "fE", "tests/unit")
TICK_S = 0.2
END_BYTES = 4096  # of pytest's output that are kept: more than its closing line has
# The C library keeps what an array took for the next one: pages that are got anew cost some tests half of their time.
KEPT = {name: str(512 << 20) for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")}


@dataclass(frozen=True)
class Check:
    """A check that runs beside pytest; its output is kept, and shown whole when it fails."""

    name: str
    process: subprocess.Popen[bytes]
    output: IO[bytes]

    @staticmethod
    def start(name: str, argv: Sequence[str]) -> Check:
        """Run it in the background."""
        output = tempfile.TemporaryFile()  # noqa: SIM115 - read when the check has ended
        process = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        return Check(name, process, output)

    def report(self) -> int:
        """Say how it ended; the exit code."""
        code = self.process.returncode
        note(f"== {self.name}: {'ok' if code == 0 else f'failed (exit code {code})'}")
        if code != 0:
            self.output.seek(0)
            note(self.output.read().decode("utf-8", errors="replace").rstrip())
        self.output.close()
        return code


@dataclass
class Tests:
    """The run of pytest: its output is passed on as it comes."""

    process: subprocess.Popen[bytes]
    to: TextIO
    end: bytes = b""  # of its output: the last line says how many tests passed
    is_running: bool = True
    is_last: bool = True  # nothing was said after it

    @staticmethod
    def start(argv: Sequence[str], to: TextIO) -> Tests:
        """Run it as if at the terminal where there is one."""
        colour = ["--color=yes"] if to.isatty() and not os.environ.get("NO_COLOR") else []
        environment = {**KEPT, **os.environ, "COLUMNS": str(shutil.get_terminal_size().columns)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile the same files again
        process = subprocess.Popen([*argv, *colour], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        return Tests(process, to)

    def pass_on(self, wait_s: float) -> None:
        """Whatever comes within this time."""
        if not self.is_running:
            time.sleep(wait_s)
            return
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], wait_s)[0]:
            return
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            self.is_running = False
            self.process.stdout.close()
            self.process.wait()
            return
        self.to.flush()
        self.to.buffer.write(data)
        self.to.flush()
        self.end = (self.end + data)[-END_BYTES:]

    def close(self) -> None:
        """Say the closing line again where a check has ended later."""
        if not self.is_last:
            self.to.flush()
            self.to.buffer.write(self.end.rstrip(b"\n").rpartition(b"\n")[2] + b"\n")
            self.to.flush()


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]... [-- PYTEST OPTION]...",
            help="Run just these with pytest, and no other check. Options for pytest stand behind --.",
            show_default=False,
        ),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Lint, types, imports and the unit tests that need no compiler: a minute.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="The tests marked `long` too.")] = False,
    json: Json = False,
) -> None:
    """Lint, check types and imports, and run the tests, side by side; exit 1 where any of them fails."""
    if not (ROOT / "pyproject.toml").is_file() or not (ROOT / "tests").is_dir():
        raise UsageError("the tests come with a checkout of the project; run this in one")
    if paths and (fast or everything):
        raise UsageError("--fast and --all choose the tests themselves; leave out the paths, or the option")
    missing = [name for name, module in MODULES.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise MachineError(f"{', '.join(missing)} cannot be found; install the development tools into this environment")
    if is_unread():
        raise BrokenPipeError
    if paths:
        codes = run_beside({}, [*PYTEST, *(_absolute(path) for path in paths)], json)
    else:
        if not fast and (skipped := install_browser()):
            note(skipped)
        chosen = FAST if fast else () if everything else MAIN
        processes = max(2, len(os.sched_getaffinity(0)))  # each imports and collects all tests
        # By default the first process is given all slow tests of a folder at once, and the others end minutes earlier.
        codes = run_beside(checks(), [*PYTEST, "-n", str(processes), "--dist", "worksteal", *chosen], json)
    failed = [name for name, code in codes.items() if code != 0]
    if json:
        emit({"passed": not failed, "failed": failed})
    elif failed:
        note(f"failed: {', '.join(failed)}")
    if failed:
        raise typer.Exit(1)


def checks() -> dict[str, Sequence[str]]:
    """List the checks that are no tests, by name."""
    folders = (ROOT / "sandbox" / name for name in ("cage/launcher", "include", "machine/interpreter"))
    paths = (path for folder in folders for path in folder.rglob("*"))
    sources = sorted(str(path) for path in paths if path.suffix in (".c", ".h", ".cpp"))
    python = sys.executable
    clang_format = (python, "-c", "from clang_format import clang_format as c; c()", "--dry-run", "-Werror")
    return {
        "ruff check": (python, "-m", "ruff", "check", "."),
        "ruff format": (python, "-m", "ruff", "format", "--check", "--diff", "."),
        "clang-format": (*clang_format, *sources),
        "lint-imports": (python, "-c", "from importlinter.cli import lint_imports_command as c; c()"),
        "mypy": (python, "-m", "mypy"),
    }


def run_beside(steps: Mapping[str, Sequence[str]], pytest: Sequence[str], json: bool) -> dict[str, int]:
    """Exit codes of the checks and of pytest, whose closing line comes last."""
    running = [Check.start(name, argv) for name, argv in steps.items()]
    tests, codes = Tests.start(pytest, sys.stderr if json else sys.stdout), dict[str, int]()
    try:
        while running or tests.is_running:
            tests.pass_on(TICK_S)
            for check in [check for check in running if check.process.poll() is not None]:
                codes[check.name] = check.report()
                running.remove(check)
                tests.is_last = tests.is_last and tests.is_running
            if is_unread():
                raise BrokenPipeError
    finally:
        for process in (tests.process, *(check.process for check in running)):
            process.terminate()
            process.wait()
    tests.close()
    codes["pytest"] = tests.process.returncode
    return codes


def _absolute(argument: str) -> str:
    """Make a path absolute as the caller means it: pytest runs in the project's root."""
    path, mark, name = argument.partition("::")
    return f"{Path(path).resolve()}{mark}{name}" if Path(path).exists() else argument
