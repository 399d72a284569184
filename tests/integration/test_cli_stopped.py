"""Commands that are stopped in the middle, by Ctrl-C or by whoever ends processes, leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEVER = "\ndef reference(inputs, case):\n    while True:\n        pass\n"


def was_asked(room: Path) -> bool:
    """Tell whether a question lies in a folder of the linter's, which may go while it is looked at."""
    with suppress(FileNotFoundError):
        return any(room.glob("*/to-*"))
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_linter_that_is_stopped_leaves_no_folder_and_no_process(number: int, tmp_path: Path) -> None:
    task = tmp_path / "silu"
    shutil.copytree(ROOT / "tasks" / "row_softmax", task, ignore=shutil.ignore_patterns("seed*"))
    with (task / "reference.py").open("a", encoding="utf-8") as file:
        file.write(NEVER)
    room = tmp_path / "room"
    room.mkdir()
    program = "import sys; from app.cli import main; sys.argv = ['ks', 'tasks', sys.argv[1], '--lint']; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(room)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(task)], env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as command:
        until = time.monotonic() + 60
        while not was_asked(room) and time.monotonic() < until:
            time.sleep(0.02)
        assert was_asked(room), "the reference was never asked"
        command.send_signal(number)
        stderr = command.communicate(timeout=60)[1]
    assert command.returncode == 130 and stderr.splitlines()[-1] == "kernel-scientist: interrupted"
    assert not list(room.iterdir())
