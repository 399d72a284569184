"""LangGraph's checkpoints of a run in Postgres, over a connection that comes back.

They are only a cursor: where a loss of power takes the last ones, the ledger has the results.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from postgres.database_address import DatabaseAddress
from postgres.link import Link, explain
from records.errors import LedgerError

Done = TypeVar("Done")
_MAKING = 0x4B534350  # the advisory lock of those who make the tables
PAUSE_S = 0.05


class LastingSaver(PostgresSaver):
    """Repeats what its connection was lost at: a checkpoint written again is the same one."""

    def __init__(self, link: Link) -> None:
        """Made by `checkpoints`."""
        super().__init__(link.db)
        self._link, self._turn = link, threading.RLock()

    def get_tuple(self, *args: Any, **kwargs: Any) -> Any:
        """Read a checkpoint, as the base class does."""
        return self._lasting(lambda: super(LastingSaver, self).get_tuple(*args, **kwargs))

    def list(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Read the checkpoints of a run, as the base class does, all at once."""
        return iter(self._lasting(lambda: [*super(LastingSaver, self).list(*args, **kwargs)]))

    def put(self, *args: Any, **kwargs: Any) -> Any:
        """Write a checkpoint, as the base class does."""
        return self._lasting(lambda: super(LastingSaver, self).put(*args, **kwargs))

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        """Write what a task gave, as the base class does."""
        return self._lasting(lambda: super(LastingSaver, self).put_writes(*args, **kwargs))

    def delete_thread(self, thread_id: str) -> None:
        """Delete a run's checkpoints, as the base class does."""
        return self._lasting(lambda: super(LastingSaver, self).delete_thread(thread_id))

    def _lasting(self, step: Callable[[], Done]) -> Done:
        def again() -> Done:
            self.conn = self._link.db
            return step()

        with self._turn:
            return self._link.persist(again)


@contextlib.contextmanager
def checkpoints(
    address: DatabaseAddress, saver_of: Callable[[Link], LastingSaver] = LastingSaver
) -> Iterator[LastingSaver]:
    """Open a checkpointer on this database; LedgerError, in one sentence, where the database is at fault."""
    link = Link(address, "", row_factory=dict_row)
    try:
        with contextlib.closing(link):
            saver = saver_of(link)
            _set_up(link, saver)
            link.relax()
            yield saver
    except psycopg.Error as error:
        raise LedgerError(explain(error, address)) from None


def _set_up(link: Link, saver: LastingSaver) -> None:
    """Make LangGraph's tables, by one driver at a time.

    No statement waits for the lock: an index that is made beside others' work would wait for that statement.
    """
    if _version(link) == len(saver.MIGRATIONS) - 1:
        return
    while not (link.ask("SELECT pg_try_advisory_lock(%s) AS taken", (_MAKING,)).fetchone() or {})["taken"]:
        time.sleep(PAUSE_S)
    try:
        saver.setup()
    finally:
        link.ask("SELECT pg_advisory_unlock(%s)", (_MAKING,))


def _version(link: Link) -> int:
    """Read the version of LangGraph's tables; -1 where there are none."""
    if not link.ask("SELECT 1 AS one FROM pg_tables WHERE tablename = 'checkpoint_migrations'").fetchone():
        return -1
    row = link.ask("SELECT coalesce(max(v), -1) AS version FROM checkpoint_migrations").fetchone()
    return int(row["version"]) if row else -1
