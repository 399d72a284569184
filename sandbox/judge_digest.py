"""The digest of the code that makes a verdict: part of every evaluation key, so that no stored verdict outlives it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = frozenset({".py", ".h", ".hip", ".c", ".cpp", ".tsv", ".toml"})


@cache
def judge_digest(root: Path = ROOT) -> str:
    """Hash the files of `sandbox/` and those of `tasks/` that are no task's, below `root`: 16 hexadecimal digits.

    A task has a digest of its own. Comments count: whether a change of the text changes a verdict is not decided here.
    """
    files = [path for path in (root / "sandbox").rglob("*") if path.suffix in SUFFIXES]
    files += (root / "tasks").glob("*.py")
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
