"""The version of this program, which `pyproject.toml` alone holds."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PACKAGE = "gpu-kernel-scientist"
ROOT = Path(__file__).resolve().parent.parent


@cache
def program_version(root: Path = ROOT) -> str:
    """Read it as `X.Y.Z` from the tree that this code is in, else from the installed package; "unknown" without both.

    The metadata of an editable install says what held when it was installed, and an update of the tree leaves it.
    """
    import tomllib

    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError):
        project = {}
    if project.get("name") == PACKAGE and isinstance(project.get("version"), str):
        return str(project["version"])
    from importlib import metadata  # dear to import, and needed only where there is no tree

    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return "unknown"
