"""The files of a task folder of GPU MODE's boards: cases from task.yml, modules that the reference may import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from records.errors import UsageError

Listing = dict[str, list[dict[str, Any]]]


def board_files(folder: Path, text_of: Callable[[Path], str]) -> tuple[Listing, dict[str, str]]:
    """Give the cases by role, and the texts of the other modules by name."""
    task = _task(folder / "task.yml", text_of(folder / "task.yml"))
    listing: Listing = {}
    for role in ("tests", "benchmarks"):
        rows = task.get(role) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise UsageError(f"{folder / 'task.yml'}: {role} is no list of cases")
        listing[role] = [{str(n): v for n, v in row.items()} for row in rows]
    if not (folder / "reference.py").is_file():
        raise UsageError(f"{folder} has no reference.py, which a task of GPU MODE's in Python has")
    modules = {}
    for row in task.get("files") or []:
        name, source = (str(row.get(k, "")) for k in ("name", "source")) if isinstance(row, dict) else ("", "")
        path = folder / source
        is_module = name.endswith(".py") and name not in ("reference.py", "eval.py", "submission.py")
        if is_module and path.is_file() and path.resolve().is_relative_to(folder.resolve().parents[1]):
            modules[name.removesuffix(".py")] = text_of(path)
    return listing, modules


def _task(path: Path, text: str) -> dict[str, Any]:
    try:
        listing = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"{path} is not valid YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(listing, dict):
        raise UsageError(f"{path} is no task of GPU MODE's: it holds no fields")
    if listing.get("lang", "py") != "py":
        raise UsageError(f"{path} is a task in {listing['lang']}; tasks in Python can be imported")
    return listing
