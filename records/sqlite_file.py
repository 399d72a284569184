"""One SQLite file as the ledger's database: a connection behind a lock, and a locked file for each run at work."""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from records.errors import LedgerError
from records.holder import process_of, signature
from records.schema import UNSEALED, explain, open_database
from records.seals import COLUMN, soundness, unsound

PATIENCE_S = 0.2  # with a lock that `driver` looks at


class SqliteFile:
    """An open ledger file. Threads share its one connection behind a lock; processes share the file."""

    keeps_look_ups = False
    clock = "((julianday('now') - 2440587.5) * 86400.0)"

    def __init__(self, path: Path) -> None:
        """Open or create the file, checking it first."""
        self.path = path
        self.lock = threading.RLock()
        self.connection = open_database(path)
        self.is_writing = False
        self._soundness: dict[str, str] = {}  # by table
        self._is_synced = True  # whether a commit waits for the disk

    @property
    def place(self) -> str:
        """The file's path."""
        return str(self.path)

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        with self.lock:
            self.connection.close()

    def forbid_writing(self) -> None:
        """Have SQLite refuse every statement that would write, from now on: for a program that only shows."""
        with self.lock:
            self.connection.execute("PRAGMA query_only = ON")

    def shrink(self) -> None:
        """Give the space of what was removed back to the disk."""
        with self.lock:
            self.connection.execute("VACUUM")

    def soundness(self, table: str) -> str:
        """Write the comparison of a row with its seal; always true for a table without seals."""
        if table not in self._soundness:
            with self.lock:
                self._soundness[table] = soundness(self.connection, table) if table not in UNSEALED else "1"
        return self._soundness[table]

    def unsound(self, table: str) -> list[dict[str, Any]]:
        """List the rows of a table whose seal does not fit, each with its `rowid`."""
        if table in UNSEALED:
            return []
        with self.lock:
            try:
                return unsound(self.connection, table)
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    def put_aside(self, table: str, rowids: Sequence[int]) -> None:
        """Take rows that are not sound out of a table; its indexes, which may differ from them, are rebuilt."""
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        with self.writing(is_synced=True, is_single=False) as db:
            indexes = db.execute(query, (table,)).fetchall()
            for name, _ in indexes:  # of columns that are computed from a body, which may be no JSON now
                db.execute(f"DROP INDEX {name}")
            db.execute(f"REINDEX {table}")
            for rowid in rowids:
                db.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
            for _, sql in indexes:
                db.execute(sql)

    def read(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows that a query finds."""
        with self.lock:
            try:
                return self.connection.execute(query, parameters).fetchall()
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    @contextlib.contextmanager
    def writing(self, *, is_synced: bool, is_single: bool) -> Iterator[sqlite3.Connection]:
        """Open one transaction, or a part of the one that this thread has open; `is_single` is one statement.

        SQLite commits that one itself: each further one is a chance for another thread to take the interpreter.
        """
        with self.lock:
            db = self.connection
            try:
                if self.is_writing:
                    yield db
                    return
                if is_synced is not self._is_synced:
                    db.execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
                    self._is_synced = is_synced
                if is_single:
                    yield db
                    return
                db.execute("BEGIN IMMEDIATE")
                self.is_writing = True
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
                finally:
                    self.is_writing = False
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """List the ledger's tables, each with its columns; those that are computed and the seals are left out."""
        names = [row[0] for row in self.read("SELECT name FROM sqlite_master WHERE type = 'table'")]
        ledger_tables = [name for name in names if not name.startswith("sqlite_")]
        columns = {name: [row[1] for row in self.read(f"PRAGMA table_info({name})")] for name in ledger_tables}
        return {
            name: tuple(column for column in table_columns if column != COLUMN)
            for name, table_columns in columns.items()
        }

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
        """Find the process that drives a run; 0 where this one cannot see it, None where there is none."""
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
