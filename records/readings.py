"""The part of the ledger that knows which passages a run has read."""

from __future__ import annotations

from records.codec import dumps
from records.database import Database
from records.literature import PassageReading


class Readings(Database):
    """Readings by run and place."""

    def add_reading(self, reading: PassageReading) -> None:
        """Store a reading unless there is one at its place."""
        with self._writing() as db:
            place = {"run_id": reading.run_id, "place": reading.place, "experiment_id": reading.experiment_id}
            self._insert(db, "readings", {**place, "body": dumps(reading)})

    def reading(self, run_id: str, place: str) -> PassageReading | None:
        """The reading at a place, or None."""
        row = self._row("SELECT body FROM readings WHERE run_id = ? AND place = ?", (run_id, place))
        return None if row is None else self._decoded(PassageReading, row[0])

    def readings(self, run_id: str, experiment_id: str | None = None) -> tuple[PassageReading, ...]:
        """The readings of a run, or of one of its experiments (of its planner for an empty id), oldest first."""
        query, named = "SELECT body FROM readings WHERE run_id = ?", [run_id]
        if experiment_id is not None:
            query, named = f"{query} AND experiment_id = ?", [run_id, experiment_id]
        return tuple(self._decoded(PassageReading, row[0]) for row in self._rows(f"{query} ORDER BY rowid", named))
