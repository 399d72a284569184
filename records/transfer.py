"""A run copied from one ledger into another, with proof: rows counted and digested on both sides before the commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from records.artefacts import ArtefactStore
from records.codec import dumps
from records.engine import Statements
from records.errors import LedgerError, UsageError
from records.ledger import Ledger
from records.removal import digests_in

_CALL = "role, model, prompt, state, reserved_usd, reply, prompt_tokens, completion_tokens, usd, generation"
_OWN: Mapping[str, tuple[str, ...]] = {
    "experiments": ("id", "body"),
    "attempts": ("id", "body"),
    "calls": ("key", *_CALL.split(", "), "experiment_id", "number", "at"),
    "spends": ("calls", "prompt_tokens", "completion_tokens", "usd"),
    "events": ("key", "kind", "body", "at"),
    "proposals": ("generation", "body"),
    "readings": ("place", "experiment_id", "body"),
}  # tables of one run, each with its columns beside the run's id
_SHARED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "evaluations": (("key", "purpose"), ("body", "who", "at")),
    "comparisons": (("key",), ("challenger", "body")),
    "memories": (("key",), ("body", "withdrawn")),
}  # tables in which the first row of a key stays, whoever wrote it
_LOOK_UPS: Mapping[str, Mapping[str, Any]] = {
    "experiments": {"generation": 0},
    "attempts": {"generation": 0, "candidate_id": "", "evaluation_key": "", "status": ""},
    "evaluations": {"code_object": "", "candidate_id": ""},
}
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Copied:
    """One table's share of a copy."""

    table: str
    rows: int
    digest: str  # SHA-256 of the rows on both sides; of their keys where the first row of a key stays
    known: int = 0  # of them, rows that the other ledger had from another run


def copy_run(source: tuple[Ledger, ArtefactStore], target: tuple[Ledger, ArtefactStore], run_id: str) -> list[Copied]:
    """Copy a run with all it rests on, in one commit; what is there already is compared and left.

    A verdict that a third run paid for is entered under the copied one where that run is not there. The
    checkpoint stays behind: it is a cursor, and the run that is resumed finds its results in the ledger.

    Raises:
        UsageError: both ledgers are one.
        LedgerError: the run is at work, is there with other records, or a digest differs; nothing is written then.
        DamagedRecord: a row of it is not as it was written; a copy would have a seal that fits.
    """
    (old, texts), (new, store) = source, target
    if old.engine.place == new.engine.place:
        raise UsageError(f"{old.engine.place} is the ledger that the run is in; name another one")
    with old.driving(run_id):
        run, own_rows, shared = _run_of(old, run_id), _own_rows(old, run_id), _shared_rows(old, run_id)
        digests = sorted(
            {d for rows in (*own_rows.values(), *shared.values(), [run]) for row in rows for d in digests_in(row)}
        )
        stored_digests = [digest for digest in digests if _is_kept(texts, digest)]
        for digest in stored_digests:
            store.put(texts.get(digest))
        with new.together():
            return [
                _artefacts(store, stored_digests),
                *_copy_own(new, run_id, run, own_rows),
                *(_copy_shared(new, run_id, table, rows) for table, rows in shared.items()),
            ]


def _run_of(ledger: Ledger, run_id: str) -> Row:
    rows = ledger._sound("runs", "id", "body, status, stop_reason, pause, extensions", "WHERE id = ?", (run_id,))
    return rows[0] if rows else ()


def _own_rows(ledger: Ledger, run_id: str) -> dict[str, list[Row]]:
    """Read the rows of the run's own tables, in the order they were written."""
    rows_by_table = {}
    for table, columns in _OWN.items():
        order = {"events": " ORDER BY number", "spends": ""}.get(table, " ORDER BY rowid")
        clause = f"WHERE run_id = ?{order}"
        rows_by_table[table] = ledger._sound(table, columns[0], ", ".join(columns), clause, (run_id,))
    return rows_by_table


def _shared_rows(ledger: Ledger, run_id: str) -> dict[str, list[Row]]:
    """Read the rows of shared tables that the run paid for, or that its attempts rest on."""
    keys = {a.evaluation_key for a in ledger.attempts(run_id)}
    by = {"evaluations": "key", "comparisons": "challenger"}
    rows_by_table: dict[str, list[Row]] = {}
    for table, (key, other_columns) in _SHARED.items():
        columns = ", ".join((*key, *other_columns))
        rows = ledger._sound(table, key[0], columns, "WHERE run_id = ? ORDER BY rowid", (run_id,))
        for evaluation_key in sorted(keys) if table in by else ():
            clause = f"WHERE {by[table]} = ? ORDER BY rowid"
            rows += ledger._sound(table, key[0], columns, clause, (evaluation_key,))
        rows_by_table[table] = list(dict.fromkeys(rows))
    return rows_by_table


def _is_kept(texts: ArtefactStore, digest: str) -> bool:
    """Tell whether a digest is that of an artefact; keys look the same."""
    with suppress(LedgerError):
        texts.get(digest)
        return True
    return False


def _artefacts(store: ArtefactStore, digests: Sequence[str]) -> Copied:
    for digest in digests:
        store.get(digest)  # which compares its content with its digest
    return Copied("artefacts", len(digests), _digest(digests))


def _copy_own(ledger: Ledger, run_id: str, run: Row, own_rows: Mapping[str, list[Row]]) -> list[Copied]:
    existing = _run_of(ledger, run_id)
    if not existing:
        with ledger._writing() as db:
            names = ("id", "body", "status", "stop_reason", "pause", "extensions")
            _write(ledger, db, "runs", [dict(zip(names, (run_id, *run), strict=True))])
            for table, rows in own_rows.items():
                columns = ("run_id", *_OWN[table])
                _write(ledger, db, table, [dict(zip(columns, (run_id, *row), strict=True)) for row in rows])
    target_rows = {"runs": [_run_of(ledger, run_id)], **_own_rows(ledger, run_id)}
    for table, rows in {"runs": [run], **own_rows}.items():
        if _digest(target_rows[table]) != _digest(rows):
            copy_name = f"the run {run_id} in {ledger.engine.place}"
            raise LedgerError(
                f"{copy_name} has other {table}; it went on there, and is left as it is"
                if existing
                else f"{copy_name} would have other {table} than here; nothing was written, please report this"
            )
    return [Copied(table, len(rows), _digest(rows)) for table, rows in target_rows.items()]


def _copy_shared(ledger: Ledger, run_id: str, table: str, rows: Sequence[Row]) -> Copied:
    key, other_columns = _SHARED[table]
    names = (*key, *other_columns, "run_id")
    with ledger._writing() as db:
        new = _write(ledger, db, table, [dict(zip(names, (*row, run_id), strict=True)) for row in rows])
    condition = " AND ".join(f"{name} = ?" for name in key)
    keys = [row[: len(key)] for row in rows]
    arrived = [
        row for k in keys for row in ledger.engine.read(f"SELECT {', '.join(key)} FROM {table} WHERE {condition}", k)
    ]
    if _digest(arrived) != _digest(keys):
        raise LedgerError(f"not all {table} of the run {run_id} arrived; nothing was written, please report this")
    return Copied(table, len(rows), _digest(keys), len(rows) - new)


def _write(ledger: Ledger, db: Statements, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Write rows whose keys are not there yet; returns their number."""
    count = 0
    for row in rows:
        look_ups = _LOOK_UPS.get(table, {})
        body = json.loads(row["body"]) if look_ups else {}
        count += ledger._insert(db, table, row, {name: body.get(name, plain) for name, plain in look_ups.items()})
    return count


def _digest(rows: Sequence[Any]) -> str:
    """Compute the SHA-256 over rows in any order."""
    return hashlib.sha256("\n".join(sorted(dumps(row) for row in rows)).encode()).hexdigest()
