"""The cache folder within its bound: what was not used for longest goes first, and only while nobody uses the cache.

Kernels' programs, listings and code objects are entries; they are made again when they are needed. The compiler's own
part stays, and so do the notes and kernels kept as incidents.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.cache_use import LOCK, alone

KERNELS = "kernels"
STAMP = "pruned"  # its age says when the cache was looked through
AFTER = 0.8  # of the bound: to which entries are removed, so that it is not done each time
AT_ONCE, PAUSE_S = 100, 0.05  # entries removed while others wait, and the time they then have
INTERVAL_S = 3600.0
OLD_WORK_S = 86_400.0
_SINGLE = ("objects", "assembled", "prefix")  # an entry each: a file or a folder
_NESTED = ("compiled", "lab/programs")  # in folders by the first letters of their keys


@dataclass(frozen=True)
class Entry:
    """A part of the cache that goes as a whole."""

    path: Path
    bytes: int
    used_at: float  # seconds since the epoch


@dataclass(frozen=True)
class Pruned:
    """The outcome of looking through the cache."""

    is_done: bool  # False where another process uses it
    entries: int = 0
    bytes: int = 0
    removed: int = 0
    removed_bytes: int = 0


def prune(folder: Path, most_bytes: int, patience_s: float = 0.0) -> Pruned:
    """Remove entries until the rest is within the bound; nothing while another process uses the cache.

    Others wait for a moment only: entries go a few at a time. `patience_s` is for a process that is about to end.
    """
    oldest_first = sorted(entries(folder), key=lambda entry: entry.used_at)
    total, going = sum(entry.bytes for entry in oldest_first), [entry for entry in oldest_first if _is_old_work(entry)]
    left = total - sum(entry.bytes for entry in going)
    if left > most_bytes:
        for entry in oldest_first:
            if left <= AFTER * most_bytes:
                break
            if entry.path.parent.name != "work":
                going.append(entry)
                left -= entry.bytes
    with contextlib.suppress(OSError):
        (folder / KERNELS / STAMP).touch()
    removed, until = 0, time.monotonic() + patience_s
    while True:
        with alone(folder / KERNELS) as no_run, alone(folder) as no_worker:
            if is_alone := no_run and no_worker:
                for entry in going[removed : removed + AT_ONCE]:
                    _remove(entry.path)
                removed = min(len(going), removed + AT_ONCE)
        if removed >= len(going) and is_alone:
            break
        if not is_alone and time.monotonic() > until:
            break
        time.sleep(PAUSE_S)
    freed = sum(entry.bytes for entry in going[:removed])
    return Pruned(is_alone, len(oldest_first), total, removed, freed)


def is_due(folder: Path) -> bool:
    """Tell whether the cache was not looked through for an hour; a new one counts as looked through."""
    kernels = folder / KERNELS
    with contextlib.suppress(OSError):
        if kernels.is_dir():
            if (kernels / STAMP).exists():
                return time.time() - (kernels / STAMP).stat().st_mtime > INTERVAL_S
            (kernels / STAMP).touch()
    return False


def entries(folder: Path) -> Iterator[Entry]:
    """List everything that may go; what a worker keeps, and what earlier versions kept, is in the folder itself."""
    for root in (folder / KERNELS, folder):
        for name in _SINGLE:
            yield from map(_measured, _inside(root / name))
        for name in _NESTED:
            for group in _inside(root / name):
                yield from map(_measured, _inside(group))
        yield from (_measured(path) for path in _inside(root / "lab") if path.name.startswith("runtime-"))
        yield from (_measured(path) for path in _inside(root) if path.name == "device")  # its parts name each other
        for name in ("work", "lab/work"):
            yield from map(_measured, _inside(root / name))


def _inside(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name != LOCK]
    except OSError:
        return []


def _measured(path: Path) -> Entry:
    """Measure size and last use of a file, or of a folder with all in it; links are not followed."""
    total, used = 0, 0.0
    paths = [str(path)]
    while paths:
        current = paths.pop()
        with contextlib.suppress(OSError):
            state = os.lstat(current)
            total += state.st_blocks * 512
            used = max(used, state.st_mtime, state.st_atime if not os.path.isdir(current) else 0.0)  # noqa: PTH112
            if os.path.isdir(current) and not os.path.islink(current):  # noqa: PTH112, PTH114 - many thousands of them
                paths += [entry.path for entry in os.scandir(current)]
    return Entry(path, total, used)


def _is_old_work(entry: Entry) -> bool:
    """Tell whether this was left behind by a build that was killed."""
    return entry.path.parent.name == "work" and time.time() - entry.used_at > OLD_WORK_S


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
