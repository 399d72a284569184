"""The forms that a task can be imported from: a row for each, the first that knows a file takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.imports.confined import Imported, imported

if TYPE_CHECKING:
    from sandbox.cage.confinement import Cage


@dataclass(frozen=True)
class ImportForm:
    """One form: its name in `[origin]`, the files it takes, and how they become a task."""

    form: str
    knows: Callable[[Path, str, str], bool]  # path, text, function
    read: Callable[[Mapping[str, Any], Cage], Imported] = imported
    gate: tuple[float, float] | None = None  # relative and absolute tolerance that the form prescribes


def _is_kernelbench(path: Path, text: str, function: str) -> bool:
    return not function and "class Model(" in text and "def get_inputs(" in text and "def get_init_inputs(" in text


FORMS = (
    ImportForm("kernelbench", _is_kernelbench, gate=(1e-4, 1e-4)),
    ImportForm("numpy", lambda path, text, function: "torch" not in text and "numpy" in text),
    ImportForm("pytorch", lambda path, text, function: True),
)


def form_of(path: Path, text: str, function: str) -> ImportForm:
    """The form of a file."""
    return next(form for form in FORMS if form.knows(path, text, function))
