"""Paths, folders and patterns to the files they name, and a mark by which a file that has not changed is known."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from knowledge.documents import READER, Added, Citation
from knowledge.reader import SUFFIXES
from records.errors import DocumentError

IGNORED = ("__pycache__", "node_modules", "_build", "site-packages")  # folders, beside hidden ones
NO_DOCUMENTS = ("cmakelists.txt", "requirements.txt", "license.txt", "licence.txt", "notice.txt", "robots.txt")
_RACY_S = 0.05  # a file that was written so lately may be written again without its time changing


@dataclass(frozen=True)
class Found:
    """A file to read, or one that is not to be, with the reason."""

    path: Path
    source: str  # what to cite where the file does not say: its place in the folder that was named
    why: str = ""


def find_files(paths: Iterable[Path]) -> list[Found]:
    """Files to read, folders searched through and patterns expanded, each file once.

    Raises:
        DocumentError: a path is missing, a folder holds no document, or nothing was named.
    """
    found: dict[str, Found] = {}
    for named in paths:
        for path in _expanded(named):
            inside = list(_inside(path)) if path.is_dir() else [Found(Path(os.path.realpath(path)), path.name)]
            if not inside:
                raise DocumentError(f"the folder {path} holds no document; documents end in {', '.join(SUFFIXES)}")
            for one in inside:
                found.setdefault(str(one.path), one)
    if not found:
        raise DocumentError("no document was named; give at least one file, or a folder of them")
    return list(found.values())


def mark_of(path: Path, given: Citation) -> str:
    """Size, time and place of a file and what was given with it; empty where it may still change unseen."""
    try:
        stat = path.stat()
    except OSError:
        return ""
    fresh = 0 <= time.time() - stat.st_mtime < _RACY_S
    return "" if fresh else f"{READER}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}-{given}"


def require_any(outcomes: list[Added]) -> None:
    """Raise DocumentError where every file was skipped."""
    if outcomes and all(one.status == "skipped" for one in outcomes):
        more = f" ({len(outcomes) - 1} other files were skipped too)" if len(outcomes) > 1 else ""
        raise DocumentError(outcomes[0].why + more)


def _expanded(path: Path) -> list[Path]:
    path = path.expanduser()
    if path.is_dir() or path.is_file():
        return [path]
    if path.exists() or path.is_symlink():
        raise DocumentError(f"{path} is neither a file nor a folder; name a document or a folder of them")
    is_pattern = glob.has_magic(str(path))
    names = sorted(glob.glob(str(path), recursive=True)) if is_pattern else []  # noqa: PTH207 - Path.glob: no absolute ones
    matched = [Path(name) for name in names]
    if not matched:
        raise DocumentError(f"there is no file or folder {path}; check the path")
    return [p for p in matched if p.is_dir() or p.is_file()]


def _inside(folder: Path) -> Iterator[Found]:
    """The documents in a folder; a link that leads out of it is none of its documents."""
    root = os.path.realpath(folder)
    for place, names, files in os.walk(root):
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in IGNORED)
        for name in sorted(files):
            if name.startswith(".") or not name.lower().endswith(SUFFIXES) or name.lower() in NO_DOCUMENTS:
                continue
            path = os.path.join(place, name)  # noqa: PTH118 - ten thousand files: a Path each costs more than the rest
            if os.path.islink(path):  # noqa: PTH114
                real = os.path.realpath(path)
                if not real.startswith(root + os.sep):
                    yield Found(Path(path), "", f"the document {path} is a link out of the folder; name it to add it")
                    continue
                path = real
            if os.path.isfile(path):  # noqa: PTH113
                yield Found(Path(path), f"{Path(root).name}{path[len(root) :]}")
