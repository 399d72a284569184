"""One SQLite file as the ledger uses it: a connection behind a lock, transactions, and the records read last."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from records.codec import loads
from records.errors import LedgerError
from records.schema import explain, open_database

Record = TypeVar("Record")
REMEMBERED = 512  # records kept in memory: what the selector sees is read in every generation


class Database:
    """An open ledger file. Threads share its one connection behind a lock; processes share the file."""

    def __init__(self, path: Path) -> None:
        """Open or create the file, checking it first."""
        self.path = path
        self._lock = threading.RLock()
        self._connection = open_database(path)
        self._is_synced = True  # whether a commit waits for the disk
        self._is_writing = False  # whether the thread that holds the lock has a transaction open
        self._recent: OrderedDict[tuple[str, ...], Any] = OrderedDict()

    def __enter__(self) -> Self:
        """Use the ledger in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        with self._lock:
            self._connection.close()

    def forbid_writing(self) -> None:
        """Have SQLite refuse every statement that would write, from now on: for a program that only shows."""
        with self._lock:
            self._connection.execute("PRAGMA query_only = ON")

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make one commit of all that this thread writes within the block; other threads wait, so keep it short."""
        with self._writing():
            yield

    def _row(self, query: str, named: Sequence[Any] = ()) -> Any:
        """The first row that this query finds, as a tuple, or None."""
        with self._lock:
            try:
                return self._connection.execute(query, named).fetchone()
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    def _rows(self, query: str, named: Sequence[Any] = ()) -> list[Any]:
        """All rows that this query finds."""
        with self._lock:
            try:
                return self._connection.execute(query, named).fetchall()
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    @contextlib.contextmanager
    def _writing(self, *, is_synced: bool = True, is_single: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction, or a part of the one that this thread has open.

        Without `is_synced` the commit reaches the disk with the next one that waits for it. `is_single`: one statement,
        which SQLite commits itself; each further one is a chance for another thread to take the interpreter.
        """
        with self._lock:
            db = self._connection
            try:
                if self._is_writing:
                    yield db
                    return
                if is_synced is not self._is_synced:
                    db.execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
                    self._is_synced = is_synced
                if is_single:
                    yield db
                    return
                db.execute("BEGIN IMMEDIATE")
                self._is_writing = True
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    self._recent.clear()  # it may hold what is not written now
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
                finally:
                    self._is_writing = False
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    def _known(self, name: tuple[str, ...]) -> Any:
        """The record of this name where it was read or written lately, else None.

        Only for records that are written once: one that another process writes later is not missed, because an absence
        is not remembered.
        """
        with self._lock:
            found = self._recent.get(name)
            if found is not None:
                self._recent.move_to_end(name)
            return found

    def _remember(self, name: tuple[str, ...], record: Record) -> Record:
        """Keep a record that is in the file, and return it."""
        with self._lock:
            self._recent[name] = record
            if len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)
        return record

    def _decoded(self, kind: type[Record], body: str) -> Record:
        """Build a record from its text; every reading of a stored record passes here."""
        return loads(kind, body)
