"""The files of others that the clock's points are made from: fetched by commit, checked by digest, never committed."""

from __future__ import annotations

import hashlib
import subprocess
import tomllib
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from records.errors import MachineError, UsageError
from records.files import write_whole

SOURCES = Path(__file__).parent / "sources.toml"
RAW = "https://raw.githubusercontent.com"
_SECONDS = 60


@dataclass(frozen=True)
class Repository:
    """A public repository at one commit, and the files of it that are needed, each with its SHA-256."""

    name: str
    commit: str
    files: Mapping[str, str]

    def folder(self, cache: Path) -> Path:
        """Return the place of its files in a cache folder, under their own paths."""
        return cache / "sources" / self.name.replace("/", "+") / self.commit


def repositories(table: Path = SOURCES) -> dict[str, Repository]:
    """Read the repositories of a table, by OWNER/NAME."""
    entries = tomllib.loads(table.read_text(encoding="utf-8"))["repository"]
    return {e["name"]: Repository(e["name"], e["commit"], e["files"]) for e in entries}


def repository(name: str) -> Repository:
    """Return the repository of that name; UsageError where the table does not have it."""
    table = repositories()
    if name not in table:
        raise UsageError(f"{name} is not in {SOURCES}: enter its commit and the digests of its files there")
    return table[name]


def fetch(source: Repository, cache: Path, mirror: Path | None = None, web: str = RAW) -> Path:
    """Bring the files of a repository into the cache and return their folder; what is there with its digest stays.

    With `mirror` they are read from the bare git directory MIRROR/OWNER+NAME/repo and nothing is asked of the network.
    MachineError where a file cannot be had or has another digest.
    """
    folder = source.folder(cache)
    for path, digest in source.files.items():
        target = folder / path
        if target.is_file() and _sha256(target.read_bytes()) == digest:
            continue
        data = _from_git(source, path, mirror) if mirror else _from_web(source, path, web)
        if _sha256(data) != digest:
            raise MachineError(
                f"{path} of {source.name} at {source.commit} has another SHA-256 than {SOURCES.name} names "
                f"({_sha256(data)}): fetch it from another place, or correct the table"
            )
        write_whole(target, data)
    return folder


def _from_git(source: Repository, path: str, mirror: Path) -> bytes:
    """Read the file's bytes in a bare git directory under `mirror`."""
    git_folder = mirror / source.name.replace("/", "+") / "repo"
    argv = ["git", "--git-dir", str(git_folder), "show", f"{source.commit}:{path}"]
    process = subprocess.run(argv, capture_output=True, check=False)
    if process.returncode != 0:
        reason = process.stderr.decode(errors="replace").strip().splitlines()
        raise MachineError(
            f"{path} of {source.name} cannot be read from {git_folder} ({reason[-1] if reason else 'git failed'}): "
            f"bring commit {source.commit} there, or leave out --mirror"
        )
    return process.stdout


def _from_web(source: Repository, path: str, web: str) -> bytes:
    """Fetch the file's bytes as GitHub serves them, under the address `web`."""
    address = f"{web}/{source.name}/{source.commit}/{path}"
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise MachineError(
            f"{address} cannot be fetched ({error}): allow this machine to reach it, or name a folder of bare git "
            "directories with --mirror"
        ) from None


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
