"""Runs that outlive what started them: begun with --detach, shown by status, paused by stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli import run_command
from app.commands import status, stop  # noqa: F401 - what the commands of these tests are
from app.detached import detach
from app.settings import Settings
from records.errors import MachineError
from records.experiment import Run
from records.holder import process_of
from records.ledger import Ledger
from tests.support.short_task import short_task

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert run_command([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_detached_run_survives_its_terminal_is_shown_and_stopped(
    workdir: Path, compiler_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    (workdir / "app").mkdir()  # a stranger's, which the process must not import
    (workdir / "app" / "__init__.py").write_text("raise RuntimeError('a stranger was imported')\n")
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"
    short_task("transpose", workdir / "short", rows=256, cols=256)
    words = ["run", "short", "--author", "playbook", "--on", "lab", "--generations", "9", "--detach", "--json"]
    terminal = subprocess.Popen(
        [sys.executable, "-P", "-c", program, str(ROOT), *words],
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    stdout, _ = terminal.communicate()
    assert terminal.returncode == 0
    begun = json.loads(stdout)
    with pytest.raises(ProcessLookupError):  # the terminal's group is gone, and the run is none of it
        os.killpg(terminal.pid, signal.SIGHUP)
    try:
        status = answer(capsys, "status", begun["run_id"])
        assert (status["state"], status["pid"], status["generations"]) == ("running", begun["pid"], 9)
        assert [row["run_id"] for row in answer(capsys, "status")] == [begun["run_id"]]
        assert run_command(["resume", "last"]) == 3
        assert "already running" in capsys.readouterr().err
        assert run_command(["resume", "last", "--detach"]) == 2
        assert "already at work" in capsys.readouterr().err
    finally:
        ended = answer(capsys, "stop", "last")
    assert (ended["stopped"], ended["status"]) == (True, "paused")
    status = answer(capsys, "status", "last")
    assert (status["state"], status["pid"], status["reason"]) == ("paused", None, "interrupted")
    assert "judging the seeds" in Path(begun["log"]).read_text()
    log = (workdir / "runs" / begun["run_id"] / "events.jsonl").read_text().splitlines()
    events = [json.loads(line)["event"] for line in log]
    assert (events[0], events[-1]) == ("begun", "left") and "stage" in events
    assert run_command(["stop", "last"]) == 2
    assert "nothing to stop" in capsys.readouterr().err


def test_a_process_that_cannot_begin_is_one_sentence_with_its_log(workdir: Path) -> None:
    settings = Settings(runs_folder=workdir / "runs", cache_folder=workdir / "cache")
    with Ledger(workdir / "runs" / "ledger.db") as ledger:
        run = Run("run-1", str(workdir / "gone"), "mi300x", "lab", "playbook", 0)
        with pytest.raises(MachineError, match=r"ended at once: .*gone.*log\.txt"):
            detach(settings, ledger, run)


def test_a_run_that_nobody_drives_is_not_stopped_and_one_of_another_machine_is_asked(
    workdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ledger(workdir / "runs" / "ledger.db") as ledger:
        ledger.add_run(Run("run-1", "transpose", "mi300x", "lab", "playbook", 0))
        assert run_command(["stop", "run-1"]) == 2
        assert "there is nothing to stop" in capsys.readouterr().err
        with ledger.driving("run-1"):
            lock = workdir / "runs" / "locks" / "run-1.lock"
            assert process_of(lock.read_text()) == os.getpid()
            lock.write_text("1 1 pid:[1]")  # as a process of another container writes it
            assert answer(capsys, "status", "run-1")["pid"] == 0
            assert run_command(["stop", "run-1", "--wait", "0"]) == 1
            assert ledger.stops_asked("run-1") == 1
