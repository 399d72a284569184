"""Ledgers for the contract that every database has to meet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from records.ledger import Ledger
from tests.support.postgres_server import PostgresServer

Opening = Callable[[], Ledger]  # the same database each time, by a connection of its own
KINDS = ("sqlite", "postgres")


def openings(kind: str, folder: Path, server: Callable[[], PostgresServer]) -> Opening:
    """Opens one database of this kind."""
    if kind == "sqlite":
        return lambda: Ledger(folder / "ledger.db", "tester@here")
    url = server().ledger()

    def open_postgres() -> Ledger:
        from postgres.database_address import address_of
        from postgres.postgres_engine import PostgresEngine

        return Ledger(PostgresEngine(address_of(url), "tester@here"), "tester@here")

    return open_postgres
