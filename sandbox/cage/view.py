"""A program's view: the paths it can open, and the descriptors it keeps."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from pathlib import Path

SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


@dataclass(frozen=True)
class View:
    """All that a caged program can open; every other path does not exist for it, or cannot be opened.

    A path that this machine does not have is left out.
    """

    readable: tuple[Path, ...] = ()
    executable: tuple[Path, ...] = ()  # readable as well: the program, its interpreter, its loader
    writable: tuple[Path, ...] = ()  # folders; nothing in them can be executed
    devices: tuple[Path, ...] = (Path("/dev/null"),)
    descriptors: tuple[int, ...] = ()  # open descriptors that the program keeps, beside the three streams
    may_fork: bool = False  # True for a program of our own that has processes do its work

    def paths(self) -> tuple[tuple[str, Path], ...]:
        """Yield each path with its kind; outer folders before what lies in them, so that a mount hides none."""
        kinds = (("r", self.readable), ("x", self.executable), ("w", self.writable), ("d", self.devices))
        rows = {(kind, _absolute(path)) for kind, paths in kinds for path in paths}
        return tuple(sorted(rows, key=lambda row: (len(row[1].parts), str(row[1]), row[0])))

    def with_readable(self, *paths: Path) -> View:
        """Copy the view with more readable paths."""
        return replace(self, readable=(*self.readable, *paths))

    def with_program(self, *paths: Path) -> View:
        """Copy the view with more that can be executed."""
        return replace(self, executable=(*self.executable, *paths))

    def with_folder(self, *folders: Path) -> View:
        """Copy the view with more writable folders."""
        return replace(self, writable=(*self.writable, *folders))


def _absolute(path: Path) -> Path:
    return path if path.is_absolute() else path.absolute()


def loaders() -> tuple[Path, ...]:
    """Find the dynamic loader of this machine's C library, at each of its names."""
    names = {
        "x86_64": ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"),
        "aarch64": ("/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"),
    }
    paths = [Path(name) for name in names.get(platform.machine(), ())]
    return tuple(dict.fromkeys(loader for path in paths if path.exists() for loader in (path, path.resolve())))
