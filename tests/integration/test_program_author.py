"""A program as the author of a run: what it submits, what it cannot reach, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from records.errors import RunStopped
from records.stopping import StopSignal
from sandbox.cage import landlock
from tests.support import program_run, scripted_agent
from tests.support.program_run import ProgramRun

AWAIT = 'await() { n=0; while [ ! -e "$1" ] && [ $n -lt 600 ]; do sleep 0.05; n=$((n+1)); done; }\n'


def program(folder: Path, text: str) -> str:
    """A shell script that has read its prompt."""
    path = folder / "agent.sh"
    path.write_text(f"#!/bin/sh\ngrep -c '# Task: '\n{AWAIT}{text}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def is_alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_files_become_attempts_and_are_judged_once(tmp_path: Path) -> None:
    words = program(
        tmp_path,
        "printf '// time_us = 70\\n' > candidates/a.hip; printf '// fail verify wrong at 7\\n' > candidates/b.hip\n"
        "ln -s ../../program.json candidates/c.hip; await verdicts/a.md; cat verdicts/a.md; ls kernels\n",
    )
    run = ProgramRun(tmp_path, words, generations=2)
    run.drive()
    assert run.outcomes() == [
        ("g001-e1-a0", "tried", "file"),
        ("g001-e1-a1", "rejected", "file"),
        ("g001-e1-a2", "accepted", ""),
        ("g002-e1-a0", "failed", ""),
    ]
    assert "submitted no kernel: it ended with exit code 0" in run.attempts()[-1].reason
    assert "g001-e1-a0.hip" in run.log()  # the second session sees what the first one did


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_a_program_sees_no_record_and_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0451aa")
    monkeypatch.setenv("AGENT_API_KEY", "given-on-purpose-77")
    words = program(
        tmp_path,
        f"env; cat ../program.json {tmp_path}/ledger.db /proc/$PPID/environ; ls .. /tmp /dev/shm; echo x > ../x\n"
        f"echo x > {tmp_path}/x; exit 4\n",
    )
    run = ProgramRun(tmp_path, words, settings={"author_environment": "AGENT_API_KEY"})
    run.drive()
    log = run.log()
    assert "canary" not in log and "given-on-purpose" not in log  # what it prints of its own is redacted
    assert "AGENT_API_KEY=" in log and "OPENAI_API_KEY" not in log
    assert log.count("ermission denied") == 8 and not (run.own / "x").exists() and not (tmp_path / "x").exists()
    [failed] = run.attempts()
    assert "it ended with exit code 4" in failed.reason


def test_it_ends_with_its_time_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    words = program(tmp_path, "setsid sleep 500 & echo $! > child; sleep 500\n")
    run = ProgramRun(tmp_path, words, minutes=0.01)
    run.drive()
    assert "it was ended at the end of its time" in run.attempts()[-1].reason
    assert not is_alive(int((run.own / "workspace" / "child").read_text(encoding="utf-8")))


def test_a_cancel_ends_it(tmp_path: Path) -> None:
    words = program(tmp_path, "echo $$ > self.new; mv self.new self; sleep 500\n")
    run = ProgramRun(tmp_path, words)
    noted, stop = run.own / "workspace" / "self", run.context.stop
    assert isinstance(stop, StopSignal)

    def cancel() -> None:
        while not noted.exists():
            time.sleep(0.02)
        stop.ask()

    threading.Thread(target=cancel, daemon=True).start()
    with pytest.raises(RunStopped):
        run.drive()
    assert not is_alive(int(noted.read_text(encoding="utf-8")))


@pytest.mark.long
@pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
def test_a_killed_run_goes_on_with_what_its_agent_has_done(tmp_path: Path) -> None:
    kernels = ("// time_us = 80\\n", "// time_us = 60\\n", "// time_us = 90\\n")
    agent = [sys.executable, scripted_agent.__file__]
    killed = subprocess.Popen(
        [sys.executable, program_run.__file__, str(tmp_path), *agent, *kernels[:2], "--hang"],
        env=os.environ | {"PYTHONPATH": str(Path(program_run.__file__).parents[2])},
    )
    done = tmp_path / "runs" / "table-run" / "workspace" / "kernels" / "g001-e1-a1.hip"
    while killed.poll() is None and not done.exists():
        time.sleep(0.1)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    run = ProgramRun(tmp_path, *agent, *kernels)
    run.drive()
    tools = [(a.id, a.tool, a.change) for a in run.attempts() if a.tool]
    assert tools == [(f"g001-e1-a{n}", "check", "as scripted") for n in range(3)]
    assert run.log().count("is right") == 1  # the agent checked the third kernel alone
    assert run.attempts()[-1].status == "accepted" and run.attempts()[-1].report == ("a faster kernel",)
