"""The database as the ledger uses it: SQLite's file by default, and any other that meets this protocol."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class StatementResult(Protocol):
    """The answer to one statement."""

    @property
    def rowcount(self) -> int:
        """Rows that it wrote."""

    def fetchone(self) -> Any:
        """Fetch the first row as a tuple, or None."""

    def fetchall(self) -> list[Any]:
        """Fetch all rows."""


class Statements(Protocol):
    """A transaction that is open, or a single statement's."""

    def execute(self, query: str, parameters: Sequence[Any] = (), /) -> StatementResult:
        """Execute one statement, with `?` for each value."""


class Engine(Protocol):
    """One open database. Every method raises LedgerError, in one sentence, when the database is at fault.

    Statements are in the words that SQLite and Postgres share: `?` for values, ON CONFLICT, a `rowid` in each table.
    """

    @property
    def place(self) -> str:
        """The database as a message names it, without its password."""

    @property
    def lock(self) -> threading.RLock:
        """Held while the connection is used; threads share it."""

    @property
    def is_writing(self) -> bool:
        """True while the thread that holds the lock has a transaction open."""

    @property
    def keeps_look_ups(self) -> bool:
        """True where the columns that records are looked up by are written; False where they are computed."""

    @property
    def clock(self) -> str:
        """The expression for the seconds since 1970 by the database's clock."""

    def soundness(self, table: str) -> str:
        """Write the expression that is 1 for a row of this table that is as written, as far as the engine can say."""

    def unsound(self, table: str) -> list[dict[str, Any]]:
        """List the rows of a table that are not as they were written, each with its `rowid`."""

    def put_aside(self, table: str, rowids: Sequence[int]) -> None:
        """Take rows that are not sound out of a table, whatever its indexes say of them."""

    def read(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows that a query finds."""

    def writing(self, *, is_synced: bool, is_single: bool) -> AbstractContextManager[Statements]:
        """Open one transaction, or a part of the one that this thread has open.

        Without `is_synced` the commit reaches the disk with the next one that waits for it. `is_single`: one statement,
        which the database commits itself.
        """

    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """List the ledger's tables, each with its columns."""

    def driving(self, run_id: str) -> AbstractContextManager[None]:
        """Hold a run for this process, as `Lifecycle.driving` says."""

    def driver(self, run_id: str) -> int | None:
        """Find the process that drives a run; 0 where this one cannot see it, None where there is none."""

    def forbid_writing(self) -> None:
        """Have the database refuse every statement that would write, from now on."""

    def shrink(self) -> None:
        """Give the space of what was removed back."""

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
