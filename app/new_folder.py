"""A folder that a command makes: whole, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from records.errors import UsageError


def refuse_taken(folder: Path) -> None:
    """UsageError where something is there already, or nothing can be made there; asked before anything takes long."""
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} is there already: choose another name, or another place with --out")
    parent = _highest_new(folder).parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise _unwritable(folder, f"{parent.absolute()} takes no new folder")


@contextmanager
def whole_or_none(folder: Path) -> Iterator[Path]:
    """Make the new folder; it goes, with the parents that were made for it, where the block does not reach its end."""
    highest = _highest_new(folder)
    try:
        folder.mkdir(parents=True)
        yield folder
    except OSError as error:
        shutil.rmtree(highest, ignore_errors=True)
        raise _unwritable(folder, error.strerror or "it is not known why") from None
    except BaseException:
        shutil.rmtree(highest, ignore_errors=True)
        raise


def _highest_new(folder: Path) -> Path:
    """Find the folder, or the first of its parents that is not there either."""
    missing = folder
    while not missing.parent.exists():
        missing = missing.parent
    return missing


def _unwritable(folder: Path, why: str) -> UsageError:
    return UsageError(f"{folder} cannot be written ({why}): name another place with --out")
