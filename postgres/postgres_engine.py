"""A Postgres database as the ledger's: one connection behind a lock, that comes back when it is lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg

from postgres.database_address import DatabaseAddress
from postgres.link import Link, explain
from postgres.postgres_seals import NO_SEALS, install, removal, soundness, unsound
from postgres.postgres_tables import prepare
from postgres.run_locks import driver_of, give_back, holder_of, is_taken
from postgres.transaction import Single, Transaction, translated
from records.engine import Statements
from records.errors import LedgerError

_COLUMNS = """SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()
    AND table_name NOT LIKE 'checkpoint%' AND table_name <> 'ledger_schema' AND column_name NOT IN ('rowid', 'seal')
    ORDER BY table_name, ordinal_position"""


class PostgresEngine:
    """An open database. Threads share its one connection; many drivers share the database.

    A run is held by an advisory lock of the very connection that writes, so that whoever lost it cannot write.
    """

    keeps_look_ups = True
    clock = "extract(epoch FROM clock_timestamp())::float8"

    def __init__(self, address: DatabaseAddress, holder: str = "", create: bool = True) -> None:
        """Connect, and make the tables where there are none, unless `create` is False."""
        self.lock = threading.RLock()
        self.link = Link(address, holder)
        self._holder = holder
        self._open: Transaction | None = None
        try:
            with self._explained():
                prepare(self.link.db, address.shown_url, create)
                self._is_sealed = install(self.link.db)
        except BaseException:
            self.link.close()
            raise

    @property
    def place(self) -> str:
        """The address without its password."""
        return self.link.address.shown_url

    @property
    def is_writing(self) -> bool:
        """True while the thread that holds the lock has a transaction open."""
        return self._open is not None

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        with self.lock:
            self.link.close()

    def forbid_writing(self) -> None:
        """Have the server refuse every statement that would write, from now on."""
        with self.lock, self._explained():
            self.link.forbid_writing()

    def shrink(self) -> None:
        """Nothing: the server gives space back by itself."""

    def soundness(self, table: str) -> str:
        """Write the comparison of a row with its seal; always true for a table without seals."""
        return soundness(table) if self._is_sealed and table not in NO_SEALS else "1"

    def unsound(self, table: str) -> list[dict[str, Any]]:
        """List the rows of a table whose seal does not fit, each with its `rowid`."""
        return unsound(self.read, table) if self._is_sealed and table not in NO_SEALS else []

    def put_aside(self, table: str, rowids: Sequence[int]) -> None:
        """Take rows that are not sound out of a table."""
        with self.writing(is_synced=True, is_single=False) as db:
            for rowid in rowids:
                db.execute(removal(table, rowid))

    def read(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows that a query finds."""
        with self.lock, self._explained():
            if self._open is not None:
                return self._open.execute(query, parameters).fetchall()
            return self.link.ask(translated(query), parameters).fetchall()

    @contextlib.contextmanager
    def writing(self, *, is_synced: bool, is_single: bool) -> Iterator[Statements]:
        """One transaction, or a part of the one that this thread has open; `is_single` is one statement."""
        with self.lock, self._explained():
            if self._open is not None:
                yield self._open
            elif is_single:
                yield Single(self.link, is_synced)
            else:
                self._open = Transaction(self.link, is_synced)
                try:
                    try:
                        yield self._open
                    except BaseException:
                        self._open.undo()
                        raise
                    self._open.commit()
                finally:
                    self._open = None

    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """List the ledger's tables, each with its columns."""
        tables: dict[str, tuple[str, ...]] = {}
        for table, column in self.read(_COLUMNS):
            tables[table] = (*tables.get(table, ()), column)
        return tables

    @contextlib.contextmanager
    def driving(self, run_id: str) -> Iterator[None]:
        """Hold the run for this process; LedgerError when another one drives it. The server frees it on any death."""
        with self.lock, self._explained():
            if run_id in self.link.held or not self.link.persist(lambda: is_taken(self.link.db, run_id, self._holder)):
                _, holder = holder_of(self.link.db, run_id)
                raise LedgerError(
                    f"the run {run_id} is already running in another process{f' of {holder}' if holder else ''}; "
                    "wait for it or stop it first"
                )
            self.link.held.add(run_id)
        try:
            yield
        finally:
            with self.lock:
                self.link.held.discard(run_id)
                with contextlib.suppress(psycopg.Error):  # a connection that is gone holds nothing
                    give_back(self.link.db, run_id)

    def driver(self, run_id: str) -> int | None:
        """Find the process that drives a run; 0 where this one cannot see it, None where there is none."""
        with self.lock, self._explained():
            return self.link.persist(lambda: driver_of(self.link.db, run_id))

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise LedgerError(explain(error, self.link.address)) from None
