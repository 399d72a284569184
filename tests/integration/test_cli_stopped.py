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

from app.detached import stop
from app.session import Session
from app.settings import Settings
from graph.doubles import ScriptedAuthor, table_context, table_task
from records.errors import RunStopped

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


def test_a_run_is_held_and_can_be_stopped_before_its_graph_begins(tmp_path: Path) -> None:
    author = ScriptedAuthor(lambda generation: [], lambda step, base: "")
    context = table_context(tmp_path, table_task(tmp_path / "task", "// time_us = 1\n"), author)
    run_folder = tmp_path / "runs" / context.run.id
    run_folder.mkdir(parents=True)
    session = Session(Settings(runs_folder=tmp_path / "runs"), context, run_folder)
    with session.held():
        assert context.ledger.driver(context.run.id) == os.getpid()
        assert not stop(context.ledger, context.run, 0.0)  # it was asked, and is not awaited
        until = time.monotonic() + 60
        while not context.stop.is_asked and time.monotonic() < until:
            time.sleep(0.02)
        with pytest.raises(RunStopped):
            session.drive(lambda event: None)
    assert context.ledger.run(context.run.id).status == "paused"
    assert context.ledger.attempts(context.run.id) == ()
