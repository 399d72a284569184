"""The clock's points: a kernel, a shape and the time that somebody measured for both."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import benchmarks.clock.families as modules
from records.errors import UsageError


@dataclass(frozen=True)
class Point:
    """One measured time, with the task and the kernel for which the lab predicts it.

    `task` is a folder whose only benchmark case has the point's shape; `kernel` is a candidate's file for it, the
    measured code unchanged in what the device executes. `caches` says how the time was taken: see rows.py.
    """

    family: str
    device: str
    label: str
    dims: Mapping[str, int]
    dtype: str
    measured_us: float
    caches: str
    task: Path
    kernel: Path
    source: str

    @property
    def digest(self) -> str:
        """Digest of what is measured: the kernel's text, the task and its shape, the device."""
        fields = (self.family, self.device, self.label, str(self.dims), self.dtype)
        digest = hashlib.sha256("\0".join(fields).encode() + self.kernel.read_bytes())
        for path in sorted(self.task.glob("*")):
            digest.update(path.read_bytes() if path.is_file() else b"")
        return digest.hexdigest()[:24]


class Family(Protocol):
    """The interface of a module of `families/`."""

    REPOSITORIES: Sequence[str]
    """OWNER/NAME of what has to be fetched first, as in sources.toml."""

    def points(self, folder: Path) -> list[Point]:
        """Write tasks and kernels under `folder`, which holds what was fetched, and return the points."""


def family_names() -> tuple[str, ...]:
    """Name all families, in order: those of the modules."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(modules.__path__) if not m.name.startswith("_")))


def family(name: str) -> Family:
    """Return the family of that name; UsageError where there is none."""
    if name not in family_names():
        raise UsageError(f"there is no family {name}: choose among {', '.join(family_names())}")
    return cast(Family, importlib.import_module(f"{modules.__name__}.{name}"))


def points(folder: Path, families: Sequence[str] | None = None) -> list[Point]:
    """List the points of these families, or of all; `folder` holds what was fetched, tasks and kernels come into it."""
    return [point for name in families or family_names() for point in family(name).points(folder)]
