"""A database as the parts of the ledger use it: queries, transactions, and the records read last."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from records.codec import loads
from records.engine import Engine, Statements
from records.errors import DamagedRecord
from records.sqlite_file import SqliteFile

Record = TypeVar("Record")
REMEMBERED = 512  # records kept in memory: what the selector sees is read in every generation


class Database:
    """An open ledger. Threads share its one connection behind a lock; processes share the database."""

    def __init__(self, file_or_engine: Path | Engine, account: str = "") -> None:
        """Open or create a file, checking it first, or take a database that is open.

        `account`: the user and machine that pay for what is written.
        """
        self.engine: Engine = SqliteFile(file_or_engine) if isinstance(file_or_engine, Path) else file_or_engine
        self.account = account
        self._lock = self.engine.lock
        self._held = threading.local()  # runs that a thread drives
        self._recent: OrderedDict[tuple[str, ...], Any] = OrderedDict()

    def __enter__(self) -> Self:
        """Use the ledger in a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the database."""
        self.close()

    @property
    def path(self) -> Path:
        """The file of a ledger that is one."""
        return Path(self.engine.place)

    def close(self) -> None:
        """Close the database; closing twice is fine."""
        self.engine.close()

    def forbid_writing(self) -> None:
        """Have the database refuse every statement that would write, from now on: for a program that only shows."""
        self.engine.forbid_writing()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make one commit of all that this thread writes within the block; other threads wait, so keep it short."""
        with self._writing():
            yield

    def _row(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first row that this query finds, as a tuple, or None."""
        rows = self._rows(query, parameters)
        return rows[0] if rows else None

    def _sound(
        self, table: str, name: str, columns: str, clause: str = "", parameters: Sequence[Any] = ()
    ) -> list[Any]:
        """Return columns of the rows that the rest of a query finds; LedgerError where one is not as it was written.

        `name` is the column by which a message names a row.
        """
        rows = self._rows(f"SELECT {columns}, {name}, {self.engine.soundness(table)} FROM {table} {clause}", parameters)
        for row in rows:
            if not row[-1]:
                raise DamagedRecord(
                    f"the row {row[-2]} of {table} in {self.engine.place} is damaged: the disk or another program "
                    "changed it; `kernel-scientist resume RUN` recomputes what it can and says what it cannot"
                )
        return [tuple(row[:-2]) for row in rows]

    def _rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows that this query finds."""
        return self.engine.read(query, parameters)

    @contextlib.contextmanager
    def _writing(self, *, is_synced: bool = True, is_single: bool = False) -> Iterator[Statements]:
        """Open one transaction, or a part of the one that this thread has open, as `Engine.writing` says."""
        with self._lock:
            try:
                with self.engine.writing(is_synced=is_synced, is_single=is_single) as db:
                    yield db
            except BaseException:
                self._recent.clear()  # it may hold what is not written now
                raise

    def _insert(
        self, db: Statements, table: str, row: Mapping[str, Any], look_ups: Mapping[str, Any] | None = None
    ) -> bool:
        """Write a row unless there is one of its key; returns whether it was written.

        `look_ups`: columns that SQLite computes from the body.
        """
        columns = {**row, **(look_ups or {})} if self.engine.keeps_look_ups else row
        marks = ", ".join("?" * len(columns))
        query = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        return db.execute(query, tuple(columns.values())).rowcount > 0

    def _recalled(self, name: tuple[str, ...]) -> Any:
        """Return the record of this name where it was read or written lately, else None.

        Only for records that are written once: one that another process writes later is not missed, because an absence
        is not remembered.
        """
        with self._lock:
            record = self._recent.get(name)
            if record is not None:
                self._recent.move_to_end(name)
            return record

    def _remember(self, name: tuple[str, ...], record: Record) -> Record:
        """Keep a record that is in the database, and return it."""
        with self._lock:
            self._recent[name] = record
            if len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)
        return record

    def _decoded(self, kind: type[Record], body: str) -> Record:
        """Build a record from its text; every reading of a stored record passes here."""
        return loads(kind, body)
