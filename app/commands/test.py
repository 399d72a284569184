"""`test`: what continuous integration runs, in a checkout."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import Json
from app.screen import emit, is_unread, note
from records.errors import MachineError, UsageError

ROOT = Path(__file__).resolve().parents[2]
STEPS: dict[str, Sequence[str]] = {
    "ruff": (sys.executable, "-m", "ruff", "check", "."),
    "mypy": (sys.executable, "-m", "mypy"),
    "lint-imports": (sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"),
    "pytest": (sys.executable, "-m", "pytest"),
}
MODULES = {"ruff": "ruff", "mypy": "mypy", "lint-imports": "importlinter", "pytest": "pytest"}


def command(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PYTEST ARGUMENTS]...", help="Passed on to pytest.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Lint, check types and imports, and run the tests; exit 1 where any of them fails."""
    if not (ROOT / "pyproject.toml").is_file() or not (ROOT / "tests").is_dir():
        raise UsageError("the tests come with a checkout of the project; run this in one")
    missing = [name for name, module in MODULES.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise MachineError(f"{', '.join(missing)} cannot be found; install the development tools into this environment")
    codes: dict[str, int] = {}
    for name, step in STEPS.items():
        if is_unread():  # the step before may have ended for that alone
            raise BrokenPipeError
        note(f"== {name}")
        extra = list(arguments or []) if name == "pytest" else []
        codes[name] = subprocess.run(
            [*step, *extra], cwd=ROOT, check=False, stdout=sys.stderr if json else None
        ).returncode
    failed = [name for name, code in codes.items() if code != 0]
    if json:
        emit({"passed": not failed, "failed": failed})
    elif failed:
        note(f"failed: {', '.join(failed)}")
    if failed:
        raise typer.Exit(1)
