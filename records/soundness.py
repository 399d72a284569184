"""Records that are not as they were written: found before a run goes on, and put aside where they can be made again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from records.database import Database

# What else a run needs is its own work, which nobody can make again: the run, experiments, attempts, proposals, calls.
MADE_AGAIN = frozenset({"evaluations", "comparisons", "readings", "memories", "events", "spends"})
_NO_CONFIRMATION = frozenset({"compile", "verify", "estimate", "benchmark"})
_GENERATION = re.compile(r"\bg(\d{3,})\b")
_NAMES = ("id", "key", "place", "number", "generation", "run_id")
_SPENDS = (
    "INSERT INTO spends (run_id, calls, prompt_tokens, completion_tokens, usd) SELECT run_id, count(*), "
    "sum(prompt_tokens), sum(completion_tokens), sum(usd) FROM calls WHERE state IN ('done', 'lost') "
    "AND run_id NOT IN (SELECT run_id FROM spends) GROUP BY run_id"
)


@dataclass(frozen=True)
class DamagedRow:
    """A row that is not as it was written."""

    table: str
    rowid: int
    name: str
    generation: int | None  # the first that it may belong to; None where nothing says
    keys: frozenset[str]  # of evaluations that it may be
    may_confirm: bool  # it may be the confirmation of a kernel

    @property
    def is_made_again(self) -> bool:
        """True where the row can be computed again, or is missed by nobody."""
        return self.table in MADE_AGAIN


class Soundness(Database):
    """The part of the ledger that knows which of its rows can be believed."""

    def damaged(self, run_id: str) -> tuple[DamagedRow, ...]:
        """List the damaged rows that are of this run, or of nobody that the row still names."""
        run_ids = {str(row[0]) for row in self._rows("SELECT id FROM runs")}
        damaged_rows = []
        for table in self.engine.tables():
            for row in self.engine.unsound(table):
                body = _body(row)
                owners = {str(source.get(name)) for source in (row, body) for name in ("run_id", "id")}
                if run_id in owners or not owners & run_ids:
                    damaged_rows.append(_damaged(table, row, body))
        return tuple(damaged_rows)

    def put_aside(self, rows: Iterable[DamagedRow]) -> None:
        """Take damaged rows out; the sums of what was paid are made again."""
        by_table: dict[str, list[int]] = {}
        for row in rows:
            by_table.setdefault(row.table, []).append(row.rowid)
        for table, rowids in by_table.items():
            self.engine.put_aside(table, rowids)
        with self._writing() as db:
            db.execute(_SPENDS)
        with self._lock:
            self._recent.clear()


def _body(row: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        body = json.loads(row.get("body") or "{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _damaged(table: str, row: Mapping[str, Any], body: Mapping[str, Any]) -> DamagedRow:
    name = next((str(row[name]) for name in _NAMES if row.get(name) is not None), str(row["rowid"]))
    identifiers = [source.get(name) for source in (row, body) for name in ("id", "experiment_id", "place")]
    generations = [int(n) for n in _GENERATION.findall(" ".join(p for p in identifiers if isinstance(p, str)))]
    generations += [v for source in (row, body) if isinstance(v := source.get("generation"), int)]
    keys = frozenset(str(source["key"]) for source in (row, body) if source.get("key"))
    may_confirm = table == "evaluations" and row["purpose"] not in _NO_CONFIRMATION
    return DamagedRow(table, int(row["rowid"]), name, min(generations, default=None), keys, may_confirm)
