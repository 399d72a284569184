"""The paths that a program sees behind its fence: all of this machine's but a few, told by what is beside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fence:
    """The folder of a program, and what it can open."""

    folder: Path
    visible: tuple[Path, ...]  # read and executed
    free: tuple[Path, ...]  # written, too
    is_fenced: bool = True


def visible_around(hidden: Sequence[Path], root: Path = Path("/")) -> tuple[Path, ...]:
    """List paths below which everything is visible, so that nothing of `hidden` is.

    A folder on the way to something hidden cannot be listed itself. What appears later beside such a thing is not
    visible either.
    """
    real = {Path(os.path.realpath(path)) for path in hidden}
    return tuple(_beside(root, frozenset(path.parts for path in real)))


def _beside(folder: Path, hidden: frozenset[tuple[str, ...]]) -> list[Path]:
    below = {parts[: len(folder.parts) + 1] for parts in hidden if parts[: len(folder.parts)] == folder.parts}
    if not below:
        return [folder]
    if folder.parts in hidden:
        return []
    rows: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.is_symlink())
    except OSError:
        return []
    for name in names:
        path = folder / name
        rows += _beside(path, hidden) if path.parts in below else [path]
    return rows
