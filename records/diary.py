"""The diary of a run in the ledger: events in the order they were written, and all that was proposed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from records.codec import dumps, from_plain
from records.database import Database
from records.experiment import Event, Proposed

STOP_ASKED = "stop asked"  # a kind of event


class Diary(Database):
    """The part of the ledger that knows events and proposals."""

    def event(
        self, run_id: str, kind: str, payload: Mapping[str, Any], key: str | None = None, is_synced: bool = True
    ) -> bool:
        """Append to the run's diary; with a key, only the first time. Returns whether it was written.

        Without `is_synced` the commit does not wait for the disk: every process sees the event and no `kill -9` loses
        it, but a loss of power may until the next commit that waits. Only for events that a resumed run writes again.
        """
        written_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        event_key = key or f"~{uuid4().hex}"  # so that a database whose connection was lost at it can repeat it
        with self._writing(is_synced=is_synced, is_single=True) as db:
            row = {"run_id": run_id, "key": event_key, "kind": kind, "body": dumps(payload), "at": written_at}
            return self._insert(db, "events", row)

    def events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """Read the run's diary from after a number on."""
        clause = "WHERE run_id = ? AND number > ? ORDER BY number"
        rows = self._sound("events", "number", "number, kind, body, at", clause, (run_id, after))
        return tuple(Event(number, kind, json.loads(body), written_at) for number, kind, body, written_at in rows)

    def event_of(self, run_id: str, key: str) -> Event | None:
        """Return the event that was written under this key, or None."""
        clause = "WHERE run_id = ? AND key = ?"
        rows = self._sound("events", "number", "number, kind, body, at", clause, (run_id, key))
        return Event(rows[0][0], rows[0][1], json.loads(rows[0][2]), rows[0][3]) if rows else None

    def last_event(self, run_id: str = "") -> int:
        """Return the number of the last event of a run, or of all runs; 0 before the first one."""
        query, parameters = ("WHERE run_id = ?", (run_id,)) if run_id else ("", ())
        (number,) = self._row(f"SELECT coalesce(max(number), 0) FROM events {query}", parameters)
        return int(number)

    def ask_stop(self, run_id: str) -> None:
        """Ask the process that drives a run, wherever it is, to pause it at once."""
        self.event(run_id, STOP_ASKED, {})

    def stops_asked(self, run_id: str) -> int:
        """Count the requests to stop a run so far."""
        (count,) = self._row("SELECT count(*) FROM events WHERE run_id = ? AND kind = ?", (run_id, STOP_ASKED))
        return int(count)

    def copy_events(self, origin_id: str, run_id: str, upto: int) -> None:
        """Copy the events of the generations up to this one from one run's diary into another's, once."""
        query = "WHERE run_id = ? ORDER BY number"
        with self._writing() as db:
            for key, kind, body, written_at in self._sound(
                "events", "number", "key, kind, body, at", query, (origin_id,)
            ):
                generation = json.loads(body).get("generation")
                if isinstance(generation, int) and generation <= upto:
                    self._insert(
                        db, "events", {"run_id": run_id, "key": key, "kind": kind, "body": body, "at": written_at}
                    )

    def add_proposals(self, run_id: str, generation: int, proposals: Sequence[Proposed]) -> None:
        """Keep what a planner proposed for a generation; a second answer for it changes nothing."""
        with self._writing() as db:
            row = {"run_id": run_id, "generation": generation, "body": dumps(list(proposals))}
            self._insert(db, "proposals", row)

    def proposals(self, run_id: str, generation: int) -> tuple[Proposed, ...]:
        """List all that was proposed for a generation, in the planner's order."""
        clause = "WHERE run_id = ? AND generation = ?"
        rows = self._sound("proposals", "generation", "body", clause, (run_id, generation))
        return tuple(from_plain(Proposed, p) for row in rows for p in json.loads(row[0]))
