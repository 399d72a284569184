"""The digest of the code that judges: driver and nodes must have the same."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import cluster
import records
import sandbox
import tasks

PACKAGES = (cluster, records, sandbox, tasks)
IGNORED = ("__pycache__",)


@cache
def code_digest() -> str:
    """SHA-256 over every file of the packages that a node executes, names included."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        root = Path(str(package.__file__)).parent
        for path in sorted(path for path in root.rglob("*") if path.is_file() and not set(path.parts) & set(IGNORED)):
            digest.update(f"{root.name}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
