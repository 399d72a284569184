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
    """
    (old, texts), (new, store) = source, target
    if old.engine.place == new.engine.place:
        raise UsageError(f"{old.engine.place} is the ledger that the run is in; name another one")
    with old.driving(run_id):
        run, own, shared = _run_of(old, run_id), _own(old, run_id), _resting(old, run_id)
        told = sorted({d for rows in (*own.values(), *shared.values(), [run]) for row in rows for d in digests_in(row)})
        kept = [digest for digest in told if _is_kept(texts, digest)]
        for digest in kept:
            store.put(texts.get(digest))
        with new.together():
            return [
                _artefacts(store, kept),
                *_copy_own(new, run_id, run, own),
                *(_copy_shared(new, run_id, table, rows) for table, rows in shared.items()),
            ]


def _run_of(ledger: Ledger, run_id: str) -> Row:
    query = "SELECT body, status, stop_reason, pause, extensions FROM runs WHERE id = ?"
    rows = ledger.engine.read(query, (run_id,))
    return tuple(rows[0]) if rows else ()


def _own(ledger: Ledger, run_id: str) -> dict[str, list[Row]]:
    """Read the rows of the run's own tables, in the order they were written."""
    found = {}
    for table, columns in _OWN.items():
        order = {"events": " ORDER BY number", "spends": ""}.get(table, " ORDER BY rowid")
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE run_id = ?{order}"
        found[table] = [tuple(row) for row in ledger.engine.read(query, (run_id,))]
    return found


def _resting(ledger: Ledger, run_id: str) -> dict[str, list[Row]]:
    """Read the rows of shared tables that the run paid for, or that its attempts rest on."""
    keys = {a.evaluation_key for a in ledger.attempts(run_id)}
    by = {"evaluations": "key", "comparisons": "challenger"}
    found: dict[str, list[Row]] = {}
    for table, (key, rest) in _SHARED.items():
        query = f"SELECT {', '.join((*key, *rest))} FROM {table} WHERE "
        rows = [tuple(row) for row in ledger.engine.read(f"{query} run_id = ? ORDER BY rowid", (run_id,))]
        for wanted in sorted(keys) if table in by else ():
            rows += map(tuple, ledger.engine.read(f"{query} {by[table]} = ? ORDER BY rowid", (wanted,)))
        found[table] = list(dict.fromkeys(rows))
    return found


def _is_kept(texts: ArtefactStore, digest: str) -> bool:
    """Tell whether a digest is that of an artefact; keys look the same."""
    with suppress(LedgerError):
        texts.get(digest)
        return True
    return False


def _artefacts(store: ArtefactStore, kept: Sequence[str]) -> Copied:
    for digest in kept:
        store.get(digest)  # which compares its content with its digest
    return Copied("artefacts", len(kept), _digest(kept))


def _copy_own(ledger: Ledger, run_id: str, run: Row, own: Mapping[str, list[Row]]) -> list[Copied]:
    known = _run_of(ledger, run_id)
    if not known:
        with ledger._writing() as db:
            names = ("id", "body", "status", "stop_reason", "pause", "extensions")
            _write(ledger, db, "runs", [dict(zip(names, (run_id, *run), strict=True))])
            for table, rows in own.items():
                columns = ("run_id", *_OWN[table])
                _write(ledger, db, table, [dict(zip(columns, (run_id, *row), strict=True)) for row in rows])
    there = {"runs": [_run_of(ledger, run_id)], **_own(ledger, run_id)}
    for table, rows in {"runs": [run], **own}.items():
        if _digest(there[table]) != _digest(rows):
            where = f"the run {run_id} in {ledger.engine.place}"
            raise LedgerError(
                f"{where} has other {table}; it went on there, and is left as it is"
                if known
                else f"{where} would have other {table} than here; nothing was written, please report this"
            )
    return [Copied(table, len(rows), _digest(rows)) for table, rows in there.items()]


def _copy_shared(ledger: Ledger, run_id: str, table: str, rows: Sequence[Row]) -> Copied:
    key, rest = _SHARED[table]
    names = (*key, *rest, "run_id")
    with ledger._writing() as db:
        new = _write(ledger, db, table, [dict(zip(names, (*row, run_id), strict=True)) for row in rows])
    where = " AND ".join(f"{name} = ?" for name in key)
    wanted = [row[: len(key)] for row in rows]
    there = [
        found for k in wanted for found in ledger.engine.read(f"SELECT {', '.join(key)} FROM {table} WHERE {where}", k)
    ]
    if _digest(there) != _digest(wanted):
        raise LedgerError(f"not all {table} of the run {run_id} arrived; nothing was written, please report this")
    return Copied(table, len(rows), _digest(wanted), len(rows) - new)


def _write(ledger: Ledger, db: Statements, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Write rows whose keys are not there yet; returns their number."""
    made = 0
    for row in rows:
        wanted = _LOOK_UPS.get(table, {})
        body = json.loads(row["body"]) if wanted else {}
        made += ledger._insert(db, table, row, {name: body.get(name, plain) for name, plain in wanted.items()})
    return made


def _digest(rows: Sequence[Any]) -> str:
    """Compute the SHA-256 over rows in any order."""
    return hashlib.sha256("\n".join(sorted(dumps(row) for row in rows)).encode()).hexdigest()
