"""Our packages have common names: in this process they mean ours, and what collides is told at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NAMES = (
    *("app", "graph", "cluster", "imports", "exports", "page", "postgres"),
    *("agents", "documents", "knowledge", "sandbox", "tasks", "records"),
)
ROOT = Path(__file__).resolve().parent.parent


class OwnPackages(MetaPathFinder):
    """Finds our packages where ours are, whatever stands before them on the path."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a spec of ours for our names; None for all others."""
        if path is None and fullname in NAMES:
            return PathFinder.find_spec(fullname, [str(ROOT)])
        return None


def claim() -> None:
    """Make our names mean our packages from now on.

    Raises:
        ImportError: another package of such a name is imported already.
    """
    if any(isinstance(finder, OwnPackages) for finder in sys.meta_path):
        return
    for name in NAMES:
        folder = _other_folder(getattr(sys.modules.get(name), "__spec__", None))
        if folder is not None:
            raise ImportError(
                f"kernel_scientist has a package {name!r} of its own, and another one, of {folder}"
                f"{_hint(name)}, is imported already: use kernel_scientist in a process without it"
            )
    hidden = [(name, folder) for name in NAMES if (folder := _other_folder(PathFinder.find_spec(name))) is not None]
    sys.meta_path.insert(0, OwnPackages())
    for name, folder in hidden:
        warnings.warn(
            f"{name!r} is kernel_scientist's own package in this process, so that the one of {folder}{_hint(name)} "
            "cannot be imported beside it",
            stacklevel=3,
        )


def _other_folder(spec: ModuleSpec | None) -> Path | None:
    """Find the folder of a package that is not ours; None for ours and for one that is not there."""
    if spec is None:
        return None
    folders = [Path(folder).resolve().parent for folder in spec.submodule_search_locations or ()]
    if not folders and spec.origin not in (None, "built-in", "frozen"):
        folders = [Path(str(spec.origin)).resolve().parent]
    return next((folder for folder in folders if folder != ROOT), None)


def _hint(name: str) -> str:
    return " (OpenAI's Agents SDK has that name)" if name == "agents" else ""
