"""Runs taken out of the ledger, with all that no other run rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from records.database import Database
from records.engine import Statements

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_HEIR = "SELECT a.run_id FROM attempts AS a WHERE a.evaluation_key = {} AND a.run_id <> ? ORDER BY a.rowid LIMIT 1"
_SHARED = {"evaluations": "evaluations.key", "comparisons": "comparisons.challenger"}  # found by later runs


class Removal(Database):
    """The part of the ledger that removes."""

    def remove(self, run_id: str) -> tuple[str, ...]:
        """Remove a run's records and the texts that only they name; the digests of these, for their files.

        Evaluations and comparisons of kernels that another run has attempts of are handed to that run. No run of the
        file may be at work: it could be about to name a text that nothing names yet.
        """
        with self._writing() as db:
            tables = self.engine.tables()
            owned = {name: columns for name, columns in tables.items() if "run_id" in columns}
            digests = set(_digests(db, owned, run_id)) | set(_digests(db, {"runs": tables["runs"]}, run_id, "id"))
            for table, key in _SHARED.items():
                heir = _HEIR.format(key)
                query = f"UPDATE {table} SET run_id = ({heir}) WHERE run_id = ? AND EXISTS ({heir})"
                db.execute(query, (run_id, run_id, run_id))
            for table in owned:
                db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
            db.execute("DELETE FROM runs WHERE id = ?", (run_id,))
            unreferenced = tuple(sorted(digests - set(_digests(db, {**owned, "runs": tables["runs"]}))))
            for digest in unreferenced:
                db.execute("DELETE FROM artefacts WHERE digest = ?", (digest,))
            self._recent.clear()
            return unreferenced

    def shrink(self) -> None:
        """Give the space of what was removed back to the disk."""
        self.engine.shrink()


def _digests(
    db: Statements, tables: Mapping[str, Sequence[str]], run_id: str = "", column: str = "run_id"
) -> Iterator[str]:
    """Yield every digest in the texts of a run's rows, or of all."""
    for table, columns in tables.items():
        condition, values = (f"WHERE {column} = ?", (run_id,)) if run_id else ("", ())
        for row in db.execute(f"SELECT {', '.join(columns)} FROM {table} {condition}", values).fetchall():
            yield from digests_in(row)


def digests_in(row: Sequence[Any]) -> Iterator[str]:
    """Yield every digest in the texts of a row; keys look the same."""
    for value in row:
        if isinstance(value, str):
            yield from _DIGEST.findall(value)
