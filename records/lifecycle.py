"""Runs in the ledger: begun, found by id, held by one process, paused and finished."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import get_args

from records.codec import dumps, from_plain, loads
from records.diary import Diary
from records.errors import LedgerError, UsageError
from records.experiment import Extension, Pause, Run, RunState, RunStatus

BETWEEN_STEPS_S = 0.05  # a server lets go of a run for a moment between two of its steps
_COLUMNS = "id, body, status, stop_reason, pause, extensions"


class Lifecycle(Diary):
    """The part of the ledger that knows runs and their status."""

    def add_run(self, run: Run) -> None:
        """Write a run down before anything else happens; the same run again changes nothing."""
        with self._writing() as db:
            initial = replace(run, status="running", stop_reason="", pause="", extensions=())
            left = {"status": run.status, "stop_reason": run.stop_reason, "pause": run.pause}
            if self._insert(db, "runs", {"id": run.id, "body": dumps(initial), **left}):
                return
            (stored_body,) = db.execute("SELECT body FROM runs WHERE id = ?", (run.id,)).fetchone()
            if loads(Run, stored_body) != initial:
                raise LedgerError(f"the run {run.id} is already in the ledger with other settings; choose another id")

    def run(self, run_id: str) -> Run:
        """Return a run by its id or a prefix that only one run has; UsageError when there is none or several."""
        rows = self._sound("runs", "id", _COLUMNS, "WHERE id = ?", (run_id,)) or self._sound(
            "runs", "id", _COLUMNS, "WHERE substr(id, 1, ?) = ? ORDER BY rowid", (len(run_id), run_id)
        )
        if not rows:
            raise UsageError(f"there is no run {run_id!r}; `kernel-scientist runs` lists them")
        if len(rows) > 1:
            raise UsageError(f"{run_id!r} could be any of {', '.join(row[0] for row in rows[:5])}; give more of the id")
        return _run(rows[0])

    def runs(self) -> tuple[Run, ...]:
        """List all runs, oldest first."""
        return tuple(_run(row) for row in self._sound("runs", "id", _COLUMNS, "ORDER BY rowid"))

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
            extensions = (*self.run(run_id).extensions, extension)
            db.execute("UPDATE runs SET extensions = ? WHERE id = ?", (dumps(extensions), run_id))
            self.finish(run_id, "running")
            payload = {"after": extension.after, "generations": extension.generations}
            self.event(run_id, "extended", payload, f"extended:{len(extensions)}")

    @contextmanager
    def driving(self, run_id: str) -> Iterator[None]:
        """Hold the run for this process; LedgerError when another one drives it. It is freed on any death.

        The thread that holds it may hold it again, within.
        """
        mine: set[str] = vars(self._held).setdefault("runs", set())
        if run_id in mine:
            yield
            return
        with self.engine.driving(run_id):
            mine.add(run_id)
            try:
                yield
            finally:
                mine.discard(run_id)

    def driver(self, run_id: str) -> int | None:
        """Find the process that drives a run; 0 where this one cannot see it, None where there is none."""
        return self.engine.driver(run_id)

    def states(self, runs: Sequence[Run]) -> dict[str, RunState]:
        """Give the state of each run by id, as of now: `stopped` where it should be running and nothing drives it.

        A paused run that a process has taken up is running: it is at work before its graph is.
        """
        states = dict[str, RunState]((run.id, run.status) for run in runs)
        for name in [name for name, state in states.items() if state == "paused"]:
            states[name] = "running" if self.driver(name) is not None else "paused"
        begun = [run.id for run in runs if run.status == "running"]
        free = [name for name in begun if self.driver(name) is None]
        if free:
            time.sleep(BETWEEN_STEPS_S)
        for name in free:
            is_free = self.driver(name) is None
            status = self.run(name).status  # read after the lock: a run that ends between is not taken for a dead one
            states[name] = "stopped" if is_free and status == "running" else status
        return states


def _run(row: tuple[str, str, RunStatus, str, Pause, str]) -> Run:
    extensions = tuple(from_plain(Extension, e) for e in json.loads(row[5]))
    return replace(loads(Run, row[1]), status=row[2], stop_reason=row[3], pause=row[4], extensions=extensions)
