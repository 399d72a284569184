"""A connection to Postgres that comes back: what it held and what was not on the disk yet are restored with it."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import pq
from psycopg.rows import tuple_row

from postgres.database_address import DatabaseAddress
from postgres.run_locks import is_taken
from records.errors import LedgerError

Done = TypeVar("Done")
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it warns of a lost connection, which comes back
PATIENCE_S = 60.0  # a server that starts again, or a standby that takes over, is back by then
CONNECT_S = 10
PAUSES_S = (0.02, 1.0)  # between two tries: the first, and the longest
_SETTINGS = """SELECT pg_backend_pid(), (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()),
    set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
        THEN 'on' ELSE current_setting('synchronous_commit') END, false),
    set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false)"""
_GONE = ("57P01", "57P02", "57P03", "25P03")  # the server ends the connection, or is not there yet


class Link:
    """One connection, used by one thread at a time; `ask` connects again where it was lost."""

    def __init__(self, address: DatabaseAddress, holder: str, row_factory: Any = tuple_row) -> None:
        """Connect; LedgerError says why it cannot be."""
        self.address, self._holder, self._row_factory = address, holder, row_factory
        self.held: set[str] = set()  # runs
        self.tail: list[tuple[str, Sequence[Any]]] = []  # committed, and perhaps not on the disk
        self.recoveries_s: list[float] = []
        self.only_reads = self._is_closed = self._is_relaxed = False
        try:
            self._connect()
        except psycopg.Error as error:
            raise LedgerError(_why_not(error, address)) from None

    def _connect(self) -> None:
        self.db = psycopg.connect(**connection_options(self.address))
        pid, start, durable, *_ = self.db.execute(_SETTINGS).fetchone() or (0, None, "on")
        self.backend, self._durable, self._is_synced = (int(pid), start), str(durable), True
        if self.only_reads:
            self.db.execute("SET default_transaction_read_only = on")
        if self._is_relaxed:
            self.synchronise(False)
        self.db.row_factory = self._row_factory

    def relax(self) -> None:
        """Have no commit wait for the disk, on this connection and on those after it."""
        self._is_relaxed = True
        self.persist(lambda: self.synchronise(False))

    def close(self) -> None:
        """Close the connection, for good."""
        self._is_closed = True
        self.db.close()

    def forbid_writing(self) -> None:
        """Have the server refuse what would write, on this connection and on those after it."""
        self.only_reads = True
        self.ask("SET default_transaction_read_only = on")

    def synchronise(self, is_synced: bool) -> None:
        """Have each commit wait for the disk, or not."""
        if is_synced is not self._is_synced:
            self.db.execute(f"SET synchronous_commit TO {self._durable if is_synced else 'off'}")
            self._is_synced = is_synced

    def ask(self, query: str, parameters: Sequence[Any] = (), is_synced: bool | None = None) -> psycopg.Cursor[Any]:
        """Execute one statement that may be executed twice; psycopg.Error where the statement is at fault."""

        def step() -> psycopg.Cursor[Any]:
            if is_synced is not None:
                self.synchronise(is_synced)
            return self.db.execute(query.encode(), parameters)

        return self.persist(step)

    def persist(self, step: Callable[[], Done]) -> Done:
        """Do what may be done twice, again where the connection was lost at it."""
        while True:
            try:
                return step()
            except psycopg.Error as error:
                if not self.is_lost(error):
                    raise
                self.come_back(error)

    def is_lost(self, error: psycopg.Error) -> bool:
        """Tell whether the connection is gone, and the statement is not to blame."""
        return not self._is_closed and (self.db.closed or error.sqlstate in _GONE)

    def come_back(self, error: psycopg.Error) -> None:
        """Connect again, take the runs again, and write again what may have been lost with the server's memory.

        Raises:
            LedgerError: the server did not come back, or another process has taken a run meanwhile.
        """
        began, pause = time.monotonic(), PAUSES_S[0]
        self.db.close()
        lost = self.backend
        while True:
            try:
                self._connect()
                for run_id in sorted(self.held):
                    if not is_taken(self.db, run_id, self._holder, lost):
                        raise LedgerError(
                            f"another process has taken the run {run_id} while the connection to the database was "
                            "lost; this one stops, and nothing is lost"
                        )
                for query, parameters in self.tail:
                    self.db.execute(query.encode(), parameters)
                self.recoveries_s.append(time.monotonic() - began)
                return
            except psycopg.Error as next_error:
                error = next_error
            if time.monotonic() - began > PATIENCE_S:
                raise LedgerError(
                    f"the database {self.address.shown_url} was lost and did not come back within {PATIENCE_S:.0f} s "
                    f"({_last_line(error, self.address)}); resume the run when it is there"
                )
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, PAUSES_S[1])


def connection_options(address: DatabaseAddress) -> dict[str, Any]:
    """Return the options of each connection; what the address says of time-outs stays."""
    waits = {} if "connect_timeout=" in address.url else {"connect_timeout": CONNECT_S}
    alive = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
    session = {"application_name": "kernel-scientist", "client_encoding": "utf8"}
    return {"conninfo": address.url, "autocommit": True, **waits, **alive, **session}


def explain(error: psycopg.Error, address: DatabaseAddress) -> str:
    """One sentence for a person, chosen by the code that the server gave."""
    code, database, message = error.sqlstate or "", address.shown_url, _last_line(error, address)
    if code in ("42501", "3F000"):
        return (
            f"the role {address.user or 'of this user'} lacks a right in {database} ({message}); "
            "have the database's owner grant it"
        )
    if code == "25006":
        return f"the database {database} takes no writing here: it is a standby, or set to read only; use its primary"
    if code.startswith("53"):
        return f"the database {database} is short of space or memory ({message}); free some, then resume"
    return f"the database {database} cannot be used ({message}); repair it, then resume the run"


def _why_not(error: psycopg.Error, address: DatabaseAddress) -> str:
    """One sentence on a connection that could not be made; a ping needs no password, and says whether one answers."""
    message, database = _last_line(error, address), address.shown_url
    if pq.PGconn.ping(address.url.encode()) == pq.Ping.OK:
        return f"the database {database} does not let this user in ({message}); check user, password and database name"
    return f"no Postgres server answers at {database} ({message}); check the address, and that the server runs"


def _last_line(error: psycopg.Error, address: DatabaseAddress) -> str:
    """Return the server's own words without a password."""
    text = error.diag.message_primary or (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
    for password in address.passwords:
        text = text.replace(password, "***")
    return text
