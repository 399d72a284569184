"""Repositories in a folder of clones, and how they get there over the network.

    python -m tests.kernels.real.sources INTO     # clones what the list names: some hundred megabytes

A clone may stand as OWNER+NAME/repo, OWNER+NAME or OWNER/NAME, with or without a work tree.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Mirror:
    """A folder of git repositories."""

    folder: Path

    def has(self, repository: str, commit: str) -> bool:
        """True where the commit is at hand."""
        place = self._place(repository)
        return place is not None and _git(place, "cat-file", "-t", commit) == "commit\n"

    def text(self, repository: str, commit: str, path: str) -> str | None:
        """The text of a file at a commit; None where there is none."""
        place = self._place(repository)
        return _git(place, "cat-file", "blob", f"{commit}:{path}") if place else None

    def _place(self, repository: str) -> Path | None:
        joined = repository.replace("/", "+")
        names = (f"{joined}/repo", joined, f"{joined}.git", repository, f"{repository}.git")
        return next((self.folder / name for name in names if (self.folder / name).is_dir()), None)


@lru_cache(maxsize=4096)
def _git(place: Path, *words: str) -> str | None:
    done = subprocess.run(["git", "-C", str(place), *words], capture_output=True, check=False)
    return done.stdout.decode("utf-8", errors="replace") if done.returncode == 0 else None


def fetch(repository: str, commit: str, into: Path) -> bool:
    """Fetch one commit without its history; True where it is there afterwards."""
    place = into / f"{repository.replace('/', '+')}/repo"
    place.mkdir(parents=True, exist_ok=True)
    for words in (
        ["init", "--bare", "--quiet"],
        ["fetch", "--quiet", "--depth=1", f"https://github.com/{repository}", commit],
    ):
        subprocess.run(["git", "-C", str(place), *words], check=False)
    return Mirror(into).has(repository, commit)


def main(argv: list[str]) -> int:
    """Fetch every repository of the list into a folder."""
    from tests.kernels.real.real import rows

    if len(argv) != 1:
        print("usage: python -m tests.kernels.real.sources FOLDER", file=sys.stderr)
        return 2
    wanted = sorted({(row.repository, row.commit) for row in rows()})
    missing = [name for name, commit in wanted if not fetch(name, commit, Path(argv[0]))]
    for name in missing:
        print(f"{name} could not be fetched", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
