"""Statements that survive their connection: repeated, and those of a transaction answered as before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from postgres.link import Link, explain
from records.errors import LedgerError

Done = TypeVar("Done")
_IN_TURNS = (errors.DeadlockDetected, errors.SerializationFailure)
MOST_TURNS = 50
PAUSE_S = 0.02
# What another run has written under the same key meanwhile: the first one stays, here as everywhere.
_FIRST_STAYS = tuple(f"INSERT INTO {table} " for table in ("artefacts", "evaluations", "comparisons", "memories"))
_CHANGED = "another process changed the records of this step while the connection was lost; resume the run"


@dataclass(frozen=True)
class Answer:
    """The answer to a statement, whole."""

    rowcount: int
    rows: tuple[Any, ...]

    @classmethod
    def of(cls, cursor: psycopg.Cursor) -> Answer:
        """Read it from a cursor."""
        return cls(cursor.rowcount, tuple(cursor.fetchall()) if cursor.description else ())

    def fetchone(self) -> Any:
        """Fetch the first row as a tuple, or None."""
        return self.rows[0] if self.rows else None

    def fetchall(self) -> list[Any]:
        """All rows."""
        return list(self.rows)


class Single:
    """One statement, which the server commits itself; it is one that may be executed twice."""

    def __init__(self, link: Link, is_synced: bool) -> None:
        """Nothing is sent yet."""
        self._link, self._is_synced = link, is_synced

    def execute(self, query: str, parameters: Sequence[Any] = (), /) -> Answer:
        """Execute it, again where the connection was lost at it."""
        text, values = translated(query), storable(parameters)
        answer = Answer.of(self._link.ask(text, values, self._is_synced))
        if not self._is_synced:
            self._link.tail.append((text, values))
        elif answer.rowcount > 0:
            self._link.tail.clear()  # this commit waited, and so for all before it
        return answer


class Transaction:
    """Statements that are committed together, on a connection that may be lost at any of them."""

    def __init__(self, link: Link, is_synced: bool) -> None:
        """Begin."""
        self._link, self._is_synced = link, is_synced
        self._done: list[tuple[str, Sequence[Any], Answer]] = []
        self._turns, self._xid = 0, ""
        self._persist(lambda: None, begins=True)

    def execute(self, query: str, parameters: Sequence[Any] = (), /) -> Answer:
        """Execute one statement, after all before it where the connection was lost; LedgerError where they changed."""
        text, values = translated(query), storable(parameters)
        try:
            answer = self._persist(lambda: self._answer(text, values))
        except _AnswerChanged:
            raise LedgerError(_CHANGED) from None
        self._done.append((text, values, answer))
        return answer

    def commit(self) -> None:
        """Commit. Where the connection is lost meanwhile, the server is asked what became of it."""
        while True:
            xid = self._xid
            try:
                self._link.db.execute("COMMIT")
                break
            except psycopg.Error as error:
                if not self._link.is_lost(error):
                    raise
                self._link.come_back(error)
            try:
                self._persist(lambda: None, begins=True)
            except _AnswerChanged:  # by the commit itself, as a rule
                self.undo()
                if self._became(xid) == "committed":
                    break
                raise LedgerError(_CHANGED) from None
        if any(answer.rowcount > 0 for *_, answer in self._done):
            self._link.tail.clear()

    def undo(self) -> None:
        """Roll back, where there is something left to."""
        try:
            self._link.db.execute("ROLLBACK")
        except psycopg.Error as error:  # the server rolls back what a lost connection left
            if not self._link.is_lost(error):
                raise

    def _persist(self, step: Callable[[], Done], begins: bool = False) -> Done:
        """Do a step; where connection or turn is lost, begin again and repeat what was done before it."""
        error: psycopg.Error | None = None
        while True:
            try:
                if error is not None:
                    self._clear(error)
                if begins or error is not None:
                    self._begin()
                    self._repeat()
                return step()
            except psycopg.Error as fault:
                error = fault

    def _clear(self, error: psycopg.Error) -> None:
        if self._link.is_lost(error):
            self._link.come_back(error)
            return
        self._turns += 1
        if not isinstance(error, _IN_TURNS) or self._turns > MOST_TURNS:
            raise LedgerError(explain(error, self._link.address)) from None
        self._link.db.execute("ROLLBACK")
        time.sleep(PAUSE_S)

    def _begin(self) -> None:
        self._link.synchronise(self._is_synced)
        cursor = self._link.db.execute("BEGIN; SELECT txid_current()", prepare=False)
        cursor.nextset()
        self._xid = str((cursor.fetchone() or ("",))[0])

    def _repeat(self) -> None:
        for query, parameters, answer in self._done:
            repeated = self._answer(query, parameters)
            if repeated != answer and not (repeated.rowcount == 0 and query.startswith(_FIRST_STAYS)):
                raise _AnswerChanged

    def _answer(self, query: str, parameters: Sequence[Any]) -> Answer:
        return Answer.of(self._link.db.execute(query.encode(), parameters))

    def _became(self, xid: str) -> str:
        try:
            return str((self._link.db.execute("SELECT txid_status(%s::bigint)", (xid,)).fetchone() or ("",))[0])
        except psycopg.Error:  # a number that the server, started again, has not given out yet
            return ""


class _AnswerChanged(Exception):
    """A statement that was repeated has another answer now."""


@cache
def translated(query: str) -> str:
    """Write a statement of the ledger in psycopg's words."""
    return query.replace("%", "%%").replace("?", "%s")


def storable(parameters: Sequence[Any]) -> tuple[Any, ...]:
    """Values as the server takes them: its texts hold no NUL."""
    return tuple(v.replace("\0", "\ufffd") if isinstance(v, str) and "\0" in v else v for v in parameters)
