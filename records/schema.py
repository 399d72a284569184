"""The ledger's file: tables, pragmas, and the checks made before anything in it is believed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from records.errors import LedgerError

APPLICATION_ID = 0x4B53434C  # "KSCL", in the header of every ledger file
SCHEMA_VERSION = 2
BUSY_MS = 30_000

TABLES = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, body TEXT NOT NULL, status TEXT NOT NULL, stop_reason TEXT NOT NULL
) STRICT;
CREATE TABLE experiments (
    run_id TEXT NOT NULL REFERENCES runs, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE attempts (
    run_id TEXT NOT NULL REFERENCES runs, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE evaluations (
    key TEXT NOT NULL, purpose TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs, body TEXT NOT NULL,
    PRIMARY KEY (key, purpose)
) STRICT;
CREATE TABLE calls (
    key TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs, role TEXT NOT NULL, model TEXT NOT NULL,
    prompt TEXT NOT NULL, state TEXT NOT NULL, reserved_usd REAL NOT NULL, reply TEXT,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, usd REAL NOT NULL
) STRICT;
CREATE INDEX calls_by_run ON calls (run_id);
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL REFERENCES runs, key TEXT,
    kind TEXT NOT NULL, body TEXT NOT NULL, at TEXT NOT NULL, UNIQUE (run_id, key)
) STRICT;
CREATE INDEX events_by_run ON events (run_id, number);
"""

COMPARISONS = """
CREATE TABLE comparisons (
    key TEXT PRIMARY KEY, challenger TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs, body TEXT NOT NULL
) STRICT;
CREATE INDEX comparisons_by_challenger ON comparisons (challenger);
"""

STEPS = {1: COMPARISONS}  # what takes a ledger of this version to the next one; nothing that is there is changed


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the ledger file; LedgerError when it is damaged, foreign, newer or not writable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
    except OSError as error:
        raise LedgerError(
            f"the ledger {path} cannot be written to ({error.strerror}); choose another run folder"
        ) from None
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")
        _check(connection, path)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()
        raise LedgerError(explain(error, path)) from None
    except LedgerError:
        connection.close()
        raise
    return connection


def explain(error: sqlite3.Error, path: Path) -> str:
    """One sentence for a person from SQLite's own error."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"the ledger {path} is in use by another process; try again when that one has ended"
    if "not a database" in text or "malformed" in text or "file is encrypted" in text:
        return f"the ledger {path} is damaged ({text}); restore it from a copy or choose another run folder"
    if "full" in text or "readonly" in text or "unable to open" in text or "disk I/O" in text:
        return f"the ledger {path} cannot be written to ({text}); free some space or mend the folder, then resume"
    return f"the ledger {path} cannot be used ({text}); restore it from a copy or choose another run folder"


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise LedgerError(
            f"the ledger {path} is damaged ({state}); restore it from a copy or choose another run folder"
        )
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not owner:
        _execute(connection, TABLES + COMPARISONS)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif owner != APPLICATION_ID:
        raise LedgerError(f"{path} is a database of another program, not a ledger; choose another run folder")
    elif version in STEPS:
        for step in range(version, SCHEMA_VERSION):
            _execute(connection, STEPS[step])
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif version != SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {path} has schema {version}, this program knows {SCHEMA_VERSION}; "
            "use the version of the program that wrote it"
        )


def _execute(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)
