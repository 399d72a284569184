"""The cache's bound: the longest unused goes first, and what is no compiled kernel stays."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from app.cli import run_command
from app.commands import cache_command  # noqa: F401 - the command of these tests
from sandbox.cache import AT_ONCE, entries, is_due, prune
from sandbox.cache_use import use

KIB = 1024
NOW = time.time()


def put(path: Path, age_s: float, size: int = 64 * KIB) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    for entry in (path, path.parent):
        os.utime(entry, (NOW - age_s, NOW - age_s))
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Ten programs of 64 KiB, the tenth the newest, beside other things."""
    kernels = tmp_path / "cache" / "kernels"
    for n in range(10):
        put(kernels / "lab" / "programs" / "ab" / f"key{n}" / "program", 1000 - 100 * n)
    put(kernels / "incidents" / "kept.hip", 9e6)
    put(tmp_path / "cache" / "toolchain" / "zig" / "libc.a", 9e6)
    put(tmp_path / "cache" / "knowledge" / "store.db", 9e6)
    put(kernels / "work" / "left" / "candidate.o", 9e6)
    put(kernels / "lab" / "work" / "building" / "candidate.o", 10)
    return tmp_path / "cache"


def left(cache: Path) -> list[str]:
    return sorted(path.parent.name for path in cache.rglob("program"))


def test_the_longest_unused_go_first_and_the_rest_stays(cache: Path) -> None:
    pruning = prune(cache, 520 * KIB)  # with room for the blocks that folders take on some file systems
    assert pruning.is_done and pruning.removed == 5 + 1  # and what a killed build left
    assert left(cache) == [f"key{n}" for n in range(5, 10)]
    names = {path.name for path in cache.rglob("*") if path.is_file()}
    assert {"kept.hip", "libc.a", "store.db"} <= names
    assert not (cache / "kernels" / "work" / "left").exists() and (cache / "kernels/lab/work/building").exists()


def test_within_the_bound_only_what_killed_builds_left_goes(cache: Path) -> None:
    assert prune(cache, 10_000 * KIB).removed == 1 and len(left(cache)) == 10
    assert prune(cache, 0).is_done and left(cache) == []


def test_what_an_earlier_version_or_a_worker_keeps_counts_too(cache: Path) -> None:
    put(cache / "compiled" / "cd" / "listing", 5000)
    put(cache / "objects" / "a.co", 5000)
    assert len(list(entries(cache))) == 10 + 2 + 2
    prune(cache, 700 * KIB)
    assert not (cache / "objects" / "a.co").exists() and not (cache / "compiled" / "cd" / "listing").exists()


def test_nothing_goes_while_the_cache_is_in_use(cache: Path) -> None:
    use(cache / "kernels")
    assert not prune(cache, 0).is_done
    assert len(left(cache)) == 10


def test_it_is_due_once_an_hour(cache: Path) -> None:
    assert not is_due(cache) and not is_due(cache), "a new one"
    os.utime(cache / "kernels" / "pruned", (NOW - 4000, NOW - 4000))
    assert is_due(cache)
    prune(cache, 10_000 * KIB)
    assert not is_due(cache)


def test_more_than_go_at_once_go_in_turns(cache: Path) -> None:
    for n in range(2 * AT_ONCE):
        put(cache / "kernels" / "objects" / f"{n}.co", 500, 10)
    assert prune(cache, 0).removed == 2 * AT_ONCE + 11
    assert list((cache / "kernels" / "objects").iterdir()) == []


def test_the_command_says_what_went(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(cache))
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_MIB", "7")
    assert run_command(["cache", "show", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["entries"] == 12 and answer["most_bytes"] == 7 << 20 and answer["bytes"] >= 12 * 64 * KIB
    assert run_command(["cache", "prune", "--mib", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["removed"] == 11
    use(cache / "kernels")
    assert run_command(["cache", "prune"]) == 1
    assert "nothing was removed" in capsys.readouterr().out
