"""The one folder that a client's tools may name files in: no absolute path, no `..`, and no link is followed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from records.errors import UsageError
from records.files import write_whole

MOST_FILE_BYTES = 128 << 10
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link, and no wait for the writer of a pipe


class ClientFolder:
    """Reads and writes below a folder; UsageError, in a sentence, for anything else."""

    def __init__(self, root: Path) -> None:
        """UsageError where there is no such folder."""
        if not root.is_dir():
            raise UsageError(f"the workspace {root} is not a folder; give one that is there")
        self.root = root.resolve()

    def folder(self, name: str) -> Path:
        """Find a folder that is there, in which nothing leads elsewhere: what reads a task opens its files by name."""
        with self._open(_parts(name), name) as number:
            if not stat.S_ISDIR(os.fstat(number).st_mode):
                raise UsageError(f"{name[:200]!r} is no folder")
            for entry in sorted(os.scandir(number), key=lambda entry: entry.name):
                if not entry.is_file(follow_symlinks=False) and not entry.is_dir(follow_symlinks=False):
                    path = f"{name}/{entry.name}"
                    raise UsageError(f"{path[:200]!r} is neither a file nor a folder; links are not followed")
        return self.root / name

    def read(self, name: str) -> str:
        """Read the text of a file of at most 128 KiB."""
        with self._open(_parts(name), name) as number:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise UsageError(f"{name[:200]!r} is no file")
            with os.fdopen(os.dup(number), "rb") as file:
                data = file.read(MOST_FILE_BYTES + 1)
        if len(data) > MOST_FILE_BYTES:
            raise UsageError(f"{name[:200]!r} is larger than {MOST_FILE_BYTES:,} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"{name[:200]!r} is not UTF-8 text") from None

    def write(self, name: str, data: bytes, *, replace: bool = False) -> Path:
        """Write a file whole or not at all, in a folder that is there; over another file only where that is asked."""
        *folders, last = _parts(name)
        with self._open(folders, name) as number:
            target = Path(f"/proc/self/fd/{number}") / last  # of the folder that was checked, whatever has its name now
            if target.is_symlink() or (target.exists() and not target.is_file()):
                raise UsageError(f"{name[:200]!r} is no plain file; choose another name")
            if target.exists() and not replace:
                raise UsageError(f"{name[:200]!r} is there already; choose another name, or ask to replace it")
            try:
                write_whole(target, data, is_public=True)
            except OSError as error:
                raise UsageError(f"{name[:200]!r} cannot be written ({error.strerror})") from None
        return self.root / name

    def write_folder(self, name: str, files: Mapping[str, bytes]) -> None:
        """Write files into a new folder, whose parent is there; UsageError where anything has its name."""
        *folders, last = _parts(name)
        with self._open(folders, name) as number:
            target = Path(f"/proc/self/fd/{number}") / last
            try:
                target.mkdir()
                for path, content in files.items():
                    (target / path).parent.mkdir(parents=True, exist_ok=True)
                    write_whole(target / path, content, is_public=True)
            except FileExistsError:
                raise UsageError(f"{name[:200]!r} is there already; choose another name") from None
            except OSError as error:
                raise UsageError(f"{name[:200]!r} cannot be written ({error.strerror})") from None

    def names(self, folder: str, ending: str) -> tuple[str, ...]:
        """List the plain files of a folder with this ending, sorted; none where there is no such folder."""
        try:
            with self._open(_parts(folder), folder) as number:
                entries = [entry for entry in os.scandir(number) if entry.name.endswith(ending)]
                return tuple(sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False)))
        except UsageError:
            return ()

    def make_folder(self, name: str) -> None:
        """Make a folder, whose parent is there, where there is none."""
        *folders, last = _parts(name)
        with self._open(folders, name) as number, contextlib.suppress(FileExistsError):
            os.mkdir(last, dir_fd=number)

    @contextlib.contextmanager
    def _open(self, parts: list[str], name: str) -> Iterator[int]:
        """Open what these parts lead to, part by part, and give its descriptor."""
        number = os.open(self.root, _OPEN | os.O_DIRECTORY)
        try:
            for part in parts:
                inner = os.open(part, _OPEN, dir_fd=number)
                os.close(number)
                number = inner
            yield number
        except FileNotFoundError:
            raise UsageError(f"there is no {name[:200]!r} in the workspace") from None
        except OSError as error:
            raise UsageError(f"{name[:200]!r} cannot be used ({error.strerror}); links are not followed") from None
        finally:
            os.close(number)


def _parts(name: str) -> list[str]:
    path = PurePosixPath(name)
    if not path.parts or "\0" in name or path.is_absolute() or ".." in path.parts:
        raise UsageError(f"{name[:200]!r} is no path inside the workspace; give one relative to it, without ..")
    return list(path.parts)
