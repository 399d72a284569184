"""Paths, folders and patterns to the files they name, and a mark by which a file that has not changed is known."""

from __future__ import annotations

import glob
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from documents.document import READER, UNSAID, Citation, storable
from documents.given_values import require
from documents.reader import SUFFIXES
from records.errors import DocumentError, UsageError

IGNORED = ("__pycache__", "node_modules", "_build", "site-packages")  # folders, beside hidden ones
NO_DOCUMENTS = (
    *("cmakelists.txt", "requirements.txt", "robots.txt", "notice.txt", "license.txt", "licence.txt"),
    *("license.md", "licence.md", "license.rst", "licence.rst"),
)
RULE = "documents.toml"  # says of a folder what its documents do not say themselves
_TICK_NS, _SECOND_NS = 50_000_000, 10**9  # more than a tick of any kernel's clock; what some file systems count in


class DocumentFile(NamedTuple):
    """A file to read, or one that is not to be, with the reason."""

    path: str
    source: str  # what to cite where the file does not say: its place in the folder that was named
    mark: str = ""  # size, times and place of the file; empty where it is none of this machine's
    changed_ns: int = 0  # when its bytes or its times were last written, by the file system's clock
    why: str = ""
    address: str = ""  # where the file was fetched from; its path is for now only
    rule: Citation = UNSAID  # of its folder

    @property
    def uri(self) -> str:
        """The address, else the path, as text that can be stored, whatever bytes it has."""
        return storable(self.address or self.path)

    def is_settled(self, now_ns: int) -> bool:
        """Tell whether a later write must change the mark, for who begins to read the file now."""
        # A write in the same tick of the clock leaves the times as they are; where they are whole seconds, for two.
        tick_ns = _TICK_NS if self.changed_ns % _SECOND_NS else 2 * _SECOND_NS
        return self.changed_ns + tick_ns <= now_ns


Paths = str | Path | Iterable[str | Path | DocumentFile]


def find_files(paths: Paths) -> list[DocumentFile]:
    """Files to read, each once; DocumentError where a path is missing, or nothing was named."""
    files: dict[str, DocumentFile] = {}
    several = [paths] if isinstance(paths, str | bytes | Path) or not isinstance(paths, Iterable) else paths
    for path in several:
        for file in [path] if isinstance(path, DocumentFile) else _files_of(path):
            files.setdefault(file.address or file.path, file)
    if not files:
        raise DocumentError("no document was named; give at least one file, or a folder of them")
    return list(files.values())


def _files_of(path_or_pattern: str | Path) -> Iterator[DocumentFile]:
    """List the files that a path, a folder or a pattern means."""
    require(
        isinstance(path_or_pattern, str | os.PathLike),
        "a document to add is named by its path, which is text",
        path_or_pattern,
    )
    if not str(path_or_pattern).strip():  # an unset variable of a shell; Path("") would be the folder one stands in
        raise DocumentError("a path is empty; name a file or a folder")
    for path in _expanded(path_or_pattern):
        if path.is_file():
            real_path = Path(os.path.realpath(path))
            rule = read_rule(str(real_path.parent / RULE), UNSAID) or UNSAID  # of a broken one the folder speaks
            yield _on_disk(str(real_path), path.name, path.stat(), rule)
        elif inside := list(_inside(path)):
            yield from inside
        else:  # one of several, as a shell's pattern names them, may hold pictures only
            why = f"is a folder that holds no document; documents end in {', '.join(SUFFIXES)}"
            yield DocumentFile(str(path), "", why=why)


def _on_disk(path: str, source: str, stat: os.stat_result, rule: Citation) -> DocumentFile:
    mark = f"{READER}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
    mark = mark if rule is UNSAID else f"{mark}-{storable(str(rule))}"
    return DocumentFile(path, source, mark, stat.st_ctime_ns, rule=rule)


def read_rule(path: str, above: Citation) -> Citation | None:
    """Read a `documents.toml`; what it leaves out is the folder above's. None where it is no such file."""
    try:
        if not os.path.isfile(path):  # noqa: PTH113 - the folder was listed by name; to open a pipe would wait for ever
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            table = tomllib.loads(file.read(100_000).decode())
    except (OSError, ValueError, RecursionError):
        return None
    fields = vars(replace(Citation.of(table), title=""))
    return replace(above, **{name: value for name, value in fields.items() if value or name in table})


def expanded(path: Path) -> Path:
    """Return the path with a user's own folder for a leading `~`; UsageError where there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise UsageError(f"there is no user's folder {path.parts[0]}; name the folder itself") from error


def _expanded(path_or_pattern: str | Path) -> list[Path]:
    path = expanded(Path(path_or_pattern))
    try:
        if path.is_dir() or path.is_file():
            return [path]
    except OSError as error:  # a name longer than any
        raise DocumentError(f"the path {str(path)[:60]}... cannot be looked at: {error.strerror}") from error
    if path.exists() or path.is_symlink():
        raise DocumentError(f"{path} is neither a file nor a folder; name a document or a folder of them")
    if str(path_or_pattern).startswith(("http:/", "https:/")):
        raise DocumentError(f"{path_or_pattern} is an address, no path; save the page and add the file")
    matched = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207 - absolute ones, too
    if not matched:
        raise DocumentError(f"there is no file or folder {path}; check the path")
    return [p for p in matched if p.is_dir() or p.is_file()]


def _inside(folder: Path) -> Iterator[DocumentFile]:
    """List the documents in a folder and in those below it, each with what the folders say of them."""
    root = os.path.realpath(folder)
    waiting = [(root, UNSAID)]
    while waiting:
        directory, rule = waiting.pop()
        try:
            with os.scandir(directory) as scan:
                entries = sorted((e for e in scan if not e.name.startswith(".")), key=lambda e: e.name)
        except OSError as error:
            yield DocumentFile(directory, "", why=f"cannot be read: {error.strerror}")
            continue
        for rule_path in (entry.path for entry in entries if entry.name == RULE):
            if (inner_rule := read_rule(rule_path, rule)) is None:
                yield DocumentFile(rule_path, "", why="cannot be read as TOML; its folder is read without it")
            rule = inner_rule or rule
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        waiting += [(entry.path, rule) for entry in reversed(folders) if entry.name not in IGNORED]
        for entry in entries:
            name = entry.name.lower()
            if name.endswith(SUFFIXES) and name not in NO_DOCUMENTS and not entry.is_dir(follow_symlinks=False):
                yield _listed(entry, root, rule)


def _listed(entry: os.DirEntry[str], root: str, rule: Citation) -> DocumentFile:
    """Read the document of a folder's entry; a link that leads out of the folder is none of its documents."""
    path, source = entry.path, os.path.basename(root) + entry.path[len(root) :]  # noqa: PTH119 - 30,000 take their time
    try:
        if entry.is_symlink() and not (path := os.path.realpath(path)).startswith(root + os.sep):
            why = "is a link out of the folder; name it to add it"
        elif entry.is_file():
            return _on_disk(path, source, entry.stat(), rule)
        else:
            why = "is no file, or a link to none"
    except OSError as error:  # a link to itself, or a file that has just gone
        why = f"cannot be read: {error.strerror}"
    return DocumentFile(entry.path, source, why=why)
