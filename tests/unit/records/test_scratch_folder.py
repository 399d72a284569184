"""Folders for a short time: whatever ends their process, nothing of them stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAKES = "from records import scratch_folder as s; f = s.make('task'); (f / 'x').touch(); print(f, flush=True); "


@contextmanager
def program(folder: Path, text: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-S", "-c", text], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def made_by(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


@pytest.mark.parametrize(
    "end", ["", "raise SystemExit(3)", "1 / 0", "s.leave(4)", "s.remove(f)", "s.make_in(f.parent, 'other-')"]
)
def test_it_is_gone_with_its_process(end: str, tmp_path: Path) -> None:
    with program(tmp_path, MAKES + end) as process:
        assert made_by(process).parent == tmp_path
        process.wait(60)
    assert not list(tmp_path.iterdir())


def test_it_goes_though_a_thread_still_writes(tmp_path: Path) -> None:
    writes = "import threading; g = lambda: [(f / str(n)).touch() for n in range(100)] and g(); "
    with program(tmp_path, f"{MAKES}{writes}threading.Thread(target=g).start(); s.leave(0)") as process:
        made_by(process)
        process.wait(60)
    assert process.returncode == 0 and not list(tmp_path.iterdir())


def test_a_fork_takes_nothing_of_its_parent(tmp_path: Path) -> None:
    forks = "import os; p = os.fork(); p or s.leave(0); os.waitpid(p, 0); print(f.exists(), flush=True)"
    with program(tmp_path, MAKES + forks) as process:
        made_by(process)
        assert process.stdout is not None and process.stdout.readline() == "True\n"


def test_what_a_killed_process_has_left_goes_with_the_next_and_nothing_else(tmp_path: Path) -> None:
    with program(tmp_path, MAKES + "s.time.sleep(60)") as killed:
        left = made_by(killed)
        killed.kill()
        killed.wait(60)
    others = [tmp_path / name for name in ("ks-scratch-notes", "ks-scratch-task-of-mine-x", "ks-scratch-task")]
    for folder in others:
        folder.mkdir()
    with program(tmp_path, MAKES + "s.time.sleep(60)") as alive, program(tmp_path, MAKES) as young:
        held = made_by(alive)
        made_by(young)
        young.wait(60)
        assert left.exists(), "it may be one whose owner is about to lock it"
        for folder in (left, held, *others):
            os.utime(folder, (time.time() - 3600,) * 2)
        with program(tmp_path, MAKES) as next_one:
            made_by(next_one)
            next_one.wait(60)
        assert not left.exists() and held.exists() and all(folder.exists() for folder in others)
