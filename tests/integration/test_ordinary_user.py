"""Tests as an ordinary user, in a clone that somebody else has tested."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.compiler_cache import usable

NOBODY = 65534


def chosen_by(user: int, preferred: Path, other: Path) -> Path:
    """The folder that this user takes."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        os._exit(0 if usable(preferred, other) == preferred else 1)
    return preferred if os.waitpid(child, 0)[1] == 0 else other


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("folders", [(), ("tests",), ("tests", "kernels")])
def test_a_cache_that_another_user_has_made_is_not_taken(tmp_path: Path, folders: tuple[str, ...]) -> None:
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == "root" and path.stat().st_mode & 0o001 == 0:
            path.chmod(0o755)
        if path == Path("/dev/shm") or path == Path("/tmp"):
            break
    preferred, other = tmp_path / "tests", tmp_path / "other"
    tmp_path.joinpath(*folders).mkdir(exist_ok=True, parents=True)
    assert usable(preferred, other) == preferred
    assert chosen_by(NOBODY, preferred, other) == other
    for path in (tmp_path, *(tmp_path.joinpath(*folders[: n + 1]) for n in range(len(folders)))):
        os.chown(path, NOBODY, NOBODY)
    assert chosen_by(NOBODY, preferred, other) == preferred
