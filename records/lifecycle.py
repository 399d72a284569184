"""Runs in the ledger: begun, found by id, held by one process, paused and finished."""

from __future__ import annotations

import contextlib
import fcntl
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, get_args

from records.codec import dumps, from_plain, loads
from records.diary import Diary
from records.errors import LedgerError, UsageError
from records.experiment import Extension, Pause, Run, RunStatus
from records.holder import process_of, signature

PATIENCE_S = 0.2  # with a lock that `driver` looks at


class Lifecycle(Diary):
    """The part of the ledger that knows runs and their status."""

    def add_run(self, run: Run) -> None:
        """Write a run down before anything else happens; the same run again changes nothing."""
        with self._writing() as db:
            known = db.execute("SELECT body FROM runs WHERE id = ?", (run.id,)).fetchone()
            asked = replace(run, status="running", stop_reason="", pause="", extensions=())
            if known is None:
                row = (run.id, dumps(asked), run.status, run.stop_reason, run.pause)
                db.execute("INSERT INTO runs (id, body, status, stop_reason, pause) VALUES (?, ?, ?, ?, ?)", row)
            elif loads(Run, known[0]) != asked:
                raise LedgerError(f"the run {run.id} is already in the ledger with other settings; choose another id")

    def run(self, run_id: str) -> Run:
        """One run by its id or by a prefix that only one run has; UsageError when there is none or several."""
        rows = self._rows("SELECT * FROM runs WHERE id = ?", (run_id,)) or self._rows(
            "SELECT * FROM runs WHERE substr(id, 1, ?) = ? ORDER BY rowid", (len(run_id), run_id)
        )
        if not rows:
            raise UsageError(f"there is no run {run_id!r}; `kernel-scientist runs` lists them")
        if len(rows) > 1:
            raise UsageError(f"{run_id!r} could be any of {', '.join(row[0] for row in rows[:5])}; give more of the id")
        return _run(rows[0])

    def runs(self) -> tuple[Run, ...]:
        """All runs, oldest first."""
        return tuple(_run(row) for row in self._rows("SELECT * FROM runs ORDER BY rowid"))

    def finish(self, run_id: str, status: RunStatus, reason: str = "", pause: Pause = "") -> None:
        """Set a run's status, the reason in words and, of a paused run, its kind; a resumed run is `running` again."""
        if status not in get_args(RunStatus) or pause not in get_args(Pause):
            raise ValueError(f"{status!r} or {pause!r} is no status or no pause of a run")
        with self._writing() as db:
            values = (status, reason, pause, run_id)
            cursor = db.execute("UPDATE runs SET status = ?, stop_reason = ?, pause = ? WHERE id = ?", values)
            if not cursor.rowcount:
                raise UsageError(f"there is no run {run_id!r}; `kernel-scientist runs` lists them")

    def extend(self, run_id: str, extension: Extension) -> None:
        """Give a run more generations: it is `running` again, and its diary says so, in one commit."""
        with self._writing() as db:
            told = (*self.run(run_id).extensions, extension)
            db.execute("UPDATE runs SET extensions = ? WHERE id = ?", (dumps(told), run_id))
            self.finish(run_id, "running")
            payload = {"after": extension.after, "generations": extension.generations}
            self.event(run_id, "extended", payload, f"extended:{len(told)}")

    @contextlib.contextmanager
    def driving(self, run_id: str) -> Iterator[None]:
        """Hold the run for this process; LedgerError when another one drives it. The kernel frees it on any death."""
        path = self._lock_file(run_id)
        try:
            path.parent.mkdir(exist_ok=True)
            file = path.open("a+")
        except OSError as error:
            raise LedgerError(
                f"the run {run_id} cannot be locked in {path.parent} ({error.strerror}); choose another run folder"
            ) from None
        with file:
            if not _is_taken(file):
                raise LedgerError(
                    f"the run {run_id} is already running in another process; wait for it or stop it first"
                )
            file.truncate(0)
            file.write(signature())
            file.flush()
            yield

    def driver(self, run_id: str) -> int | None:
        """The process that drives a run; 0 where this one cannot see it, None where there is none."""
        try:
            file = self._lock_file(run_id).open(encoding="utf-8")
        except OSError:
            return None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return process_of(file.read())
        return None

    def _lock_file(self, run_id: str) -> Path:
        return self.path.parent / "locks" / f"{run_id}.lock"


def _is_taken(file: IO[str]) -> bool:
    """Lock the file for this process; one that only looks at it holds it for a moment."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > until:
                return False
            time.sleep(0.01)


def _run(row: tuple[str, str, RunStatus, str, Pause, str]) -> Run:
    extensions = tuple(from_plain(Extension, e) for e in json.loads(row[5]))
    return replace(loads(Run, row[1]), status=row[2], stop_reason=row[3], pause=row[4], extensions=extensions)
