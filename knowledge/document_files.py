"""Paths, folders and patterns to the files they name, and a mark by which a file that has not changed is known."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from knowledge.documents import READER, Added, storable
from knowledge.reader import SUFFIXES
from records.errors import DocumentError
from records.quantity import counted

IGNORED = ("__pycache__", "node_modules", "_build", "site-packages")  # folders, beside hidden ones
NO_DOCUMENTS = ("cmakelists.txt", "requirements.txt", "license.txt", "licence.txt", "notice.txt", "robots.txt")
_RACY_S = 0.05  # a file that was written so lately may be written again without its time changing


@dataclass(frozen=True)
class Found:
    """A file to read, or one that is not to be, with the reason."""

    path: str
    source: str  # what to cite where the file does not say: its place in the folder that was named
    mark: str = ""  # size, time and place of the file; empty where it may still change unseen
    why: str = ""
    address: str = ""  # where the file was fetched from; its path is for now only

    @property
    def uri(self) -> str:
        """The address, else the path, as text that can be stored, whatever bytes it has."""
        if self.address:
            return storable(self.address)
        return self.path if self.path.isascii() else storable(self.path)


def find_files(paths: Iterable[Path | Found]) -> list[Found]:
    """Files to read, folders searched through and patterns expanded, each file once; what is found stays as it is.

    Raises:
        DocumentError: a path is missing, a folder holds no document, or nothing was named.
    """
    found: dict[str, Found] = {}
    for named in paths:
        if isinstance(named, Found):
            found.setdefault(named.uri, named)
            continue
        for path in _expanded(named):
            inside = list(_inside(path)) if path.is_dir() else [_named(path)]
            if not inside:
                raise DocumentError(f"the folder {path} holds no document; documents end in {', '.join(SUFFIXES)}")
            for one in inside:
                found.setdefault(one.path, one)
    if not found:
        raise DocumentError("no document was named; give at least one file, or a folder of them")
    return list(found.values())


def _mark(stat: os.stat_result, now: float) -> str:
    fresh = 0 <= now - stat.st_mtime < _RACY_S
    return "" if fresh else f"{READER}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}"


def _named(path: Path) -> Found:
    return Found(os.path.realpath(path), path.name, _mark(path.stat(), time.time()))


def require_any(outcomes: list[Added]) -> None:
    """Raise DocumentError where every file was skipped."""
    if outcomes and all(one.status == "skipped" for one in outcomes):
        more = f" (skipped too: {counted(len(outcomes) - 1, 'other file')})" if len(outcomes) > 1 else ""
        raise DocumentError(outcomes[0].why + more)


def _expanded(path: Path) -> list[Path]:
    path = path.expanduser()
    if path.is_dir() or path.is_file():
        return [path]
    if path.exists() or path.is_symlink():
        raise DocumentError(f"{path} is neither a file nor a folder; name a document or a folder of them")
    if str(path).startswith(("http:/", "https:/")):  # a Path has lost the second stroke
        raise DocumentError(f"{path} is an address, no path; save the page and add the file")
    is_pattern = glob.has_magic(str(path))
    names = sorted(glob.glob(str(path), recursive=True)) if is_pattern else []  # noqa: PTH207 - Path.glob: no absolute ones
    matched = [Path(name) for name in names]
    if not matched:
        raise DocumentError(f"there is no file or folder {path}; check the path")
    return [p for p in matched if p.is_dir() or p.is_file()]


def _inside(folder: Path) -> Iterator[Found]:
    """The documents in a folder; a link that leads out of it is none of its documents."""
    root = os.path.realpath(folder)
    name, now = Path(root).name, time.time()
    waiting = [root]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            yield Found(place, "", why=f"cannot be read: {error.strerror}")
            continue
        folders = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders += [entry.path] if entry.name not in IGNORED else []
            elif entry.name.lower().endswith(SUFFIXES) and entry.name.lower() not in NO_DOCUMENTS:
                path, source = entry.path, name + entry.path[len(root) :]
                if entry.is_symlink():
                    path = os.path.realpath(path)
                    if not path.startswith(root + os.sep):
                        yield Found(entry.path, source, why="is a link out of the folder; name it to add it")
                        continue
                if entry.is_file():
                    yield Found(path, source, _mark(entry.stat(), now))
        waiting += reversed(folders)
