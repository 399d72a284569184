"""The place of an export: a file with the form's ending, or a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from records.errors import UsageError

_OF_FILES = (".py", ".hip", ".cu", ".cpp", ".h", ".json", ".jsonl", ".zip", ".gz", ".tar")


def place_of(out: str | None, default: Path, form: str) -> Path:
    """Return the place that `--out` means; a `default` with an ending is a file, without one a folder.

    A name without an ending gets the form's, and a folder takes the file under its default name.
    UsageError for a name that says another thing than the form writes.
    """
    if out is None:
        return default
    if not out.strip() or "\0" in out:
        raise UsageError("--out names no place: give a name, or leave it out")
    path, ending = Path(out), default.suffix
    if not ending:
        if path.is_file() or path.suffix in _OF_FILES:
            raise UsageError(f"{form} writes a folder, and {out} is a file's name: name a folder with --out")
        return path
    if path.is_dir() or out.endswith("/"):
        return path / default.name
    if not path.suffix:
        return path.with_name(path.name + ending)
    if path.suffix != ending:
        raise UsageError(f"{form} writes a file that ends in {ending}, and {path.name} does not: end its name so")
    return path


def refuse_there(paths: Iterable[Path], force: bool) -> None:
    """UsageError for the first that is there, a dead link too, unless it may be written over."""
    existing = next((path for path in paths if os.path.lexists(path)), None)
    if existing is not None and not force:
        raise UsageError(f"{existing} is there already: name another place with --out, or give --force")
