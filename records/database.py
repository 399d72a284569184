"""One SQLite file as the ledger uses it: a connection behind a lock, transactions, and the records read last."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
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

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make one commit of all that this thread writes within the block; other threads wait, so keep it short."""
        with self._writing():
            yield

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    @contextlib.contextmanager
    def _writing(self, *, is_synced: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction, or a part of the one that this thread has open.

        Without `is_synced` the commit reaches the disk with the next one that waits for it.
        """
        with self._reading() as db:
            if self._is_writing:
                yield db
                return
            if is_synced is not self._is_synced:
                db.execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
                self._is_synced = is_synced
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

    def _remembered(self, name: tuple[str, ...], read: Callable[[], Record | None]) -> Record | None:
        """The record of this name, from memory where it was read lately.

        Only for records that are written once: one that another process writes later is not missed, because an absence
        is not remembered.
        """
        with self._lock:
            if name in self._recent:
                self._recent.move_to_end(name)
                return self._recent[name]  # type: ignore[no-any-return]
            found = read()
            return None if found is None else self._remember(name, found)

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
