"""Runs in a process of their own, which outlives the terminal or the client that started it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.kept_secrets import without_secrets
from app.wiring import make_folder
from records.errors import MachineError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from records.experiment import Run
    from records.ledger import Ledger

ROOT = Path(__file__).resolve().parent.parent
LOG = "log.txt"
# The folder of the caller may have an `app` of its own, so it is not on the path.
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"
START_S = 120.0  # until the process has the run's lock; the graph is imported first
TICK_S = 0.05
TIDY_S = 60.0  # for the process that asked to end


def detach(settings: Settings, ledger: Ledger, run: Run, options: Sequence[str] = ()) -> int:
    """Drive a run in another process, and return its number once it is at work; MachineError where it ends before.

    `options` are those of `resume`. What it prints is in `log.txt` in the run's folder.
    """
    if ledger.driver(run.id) is not None:
        raise UsageError(f"the run {run.id} is already at work; `kernel-scientist status {run.id}` shows it")
    ledger.add_run(run)
    log = make_folder(settings, run) / LOG
    begin = log.stat().st_size if log.exists() else 0
    pid = _spawn(settings, log, ["resume", run.id, *options], os.environ)
    child = threading.Thread(target=os.waitpid, args=(pid, 0), daemon=True)  # leaves no zombie of a long-lived caller
    child.start()
    until = time.monotonic() + START_S
    while child.is_alive() and ledger.driver(run.id) is None and time.monotonic() < until:
        time.sleep(TICK_S)
    if not child.is_alive() and ledger.run(run.id).status == "running":
        output = log.read_bytes()[begin:].decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise MachineError(f"the process for {run.id} ended at once: {output[-1]} (details: {log})")
    return pid


def stop(ledger: Ledger, run: Run, patience_s: float) -> bool:
    """Have whoever drives a run pause it, here, in a server or on another machine; False where it has not in this time.

    UsageError where no process drives the run.
    """
    if ledger.driver(run.id) is None and ledger.states((run,))[run.id] != "running":
        raise UsageError(f"no process is at work on the run {run.id}, which is {run.status}; there is nothing to stop")
    ledger.ask_stop(run.id)
    until = time.monotonic() + patience_s
    while ledger.driver(run.id) is not None or ledger.states((ledger.run(run.id),))[run.id] == "running":
        if time.monotonic() > until:
            return False
        time.sleep(TICK_S)
    return True


def tidy(settings: Settings) -> None:
    """Have another process bring the cache within its bound, once this one has ended; nothing waits for it."""
    from sandbox.cache import is_due

    if is_due(settings.cache_folder):
        pid = _spawn(settings, Path(os.devnull), ["cache", "prune", "--wait-s", str(TIDY_S)], without_secrets())
        os.setpriority(os.PRIO_PROCESS, pid, 19)


def _spawn(settings: Settings, log: Path, words: Sequence[str], inherited: Mapping[str, str]) -> int:
    folders = {"RUNS_FOLDER": settings.runs_folder, "CACHE_FOLDER": settings.cache_folder}
    environment = {**inherited, **{f"KERNEL_SCIENTIST_{name}": str(folder) for name, folder in folders.items()}}
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-c", PROGRAM, str(ROOT), *words],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP],  # a shell's `&` has its children ignore them
        )
    except OSError as error:
        raise MachineError(f"a process for the run cannot be started ({error.strerror}); try again later") from None
