"""The tables in Postgres: made once, taken along, and refused where they are another program's."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import psycopg
import pytest

from postgres.database_address import address_of
from postgres.postgres_engine import PostgresEngine
from postgres.postgres_tables import MIGRATIONS, prepare
from records.errors import LedgerError, NoRecords
from records.ledger import Ledger
from records.schema import SCHEMA_VERSION
from records.seals import COLUMN
from tests.support.postgres_server import PostgresServer
from tests.unit.records.test_ledger import RUN


def opened(url: str, create: bool = True) -> Ledger:
    return Ledger(PostgresEngine(address_of(url), "", create))


def test_an_empty_database_is_made_by_one_of_several_that_open_it_at_once(postgres: PostgresServer) -> None:
    url = postgres.database()
    with pytest.raises(NoRecords, match="there are no runs in postgresql://owner@127"):
        opened(url, create=False)
    faults: list[BaseException] = []

    def work() -> None:
        try:
            opened(url).close()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    with opened(url, create=False) as ledger:
        ledger.add_run(RUN)
        assert ledger.runs() == (RUN,)
        assert ledger.engine.read("SELECT version FROM ledger_schema") == [(SCHEMA_VERSION,)]


def test_the_tables_have_the_columns_of_those_in_sqlite(postgres: PostgresServer, tmp_path: Path) -> None:
    computed = {"generation", "candidate_id", "evaluation_key", "status", "code_object"}
    with opened(postgres.ledger()) as ours, Ledger(tmp_path / "ledger.db") as theirs:
        db = sqlite3.connect(tmp_path / "ledger.db")
        assert set(ours.engine.tables()) - {"holders"} == set(theirs.engine.tables())
        for table in theirs.engine.tables():
            columns = {row[1] for row in db.execute(f"PRAGMA table_xinfo({table})")} - {COLUMN}
            assert set(ours.engine.tables()[table]) == columns, table
            assert columns - set(theirs.engine.tables()[table]) <= computed
        db.close()


def test_an_older_ledger_is_taken_along_and_a_newer_one_refused(postgres: PostgresServer) -> None:
    url = postgres.ledger()
    with opened(url) as ledger:
        ledger.add_run(RUN)
    later = (*MIGRATIONS, (SCHEMA_VERSION + 1, "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"))
    with psycopg.connect(url, autocommit=True) as db:
        for _ in range(2):
            prepare(db, "here", create=False, migrations=later)
        assert db.execute("SELECT id, colour FROM runs").fetchall() == [(RUN.id, "red")]
        assert db.execute("SELECT version FROM ledger_schema ORDER BY 1").fetchall() == [
            (SCHEMA_VERSION,),
            (SCHEMA_VERSION + 1,),
        ]
    with pytest.raises(LedgerError, match=f"has schema {SCHEMA_VERSION + 1}, this program knows {SCHEMA_VERSION}"):
        opened(url)


def test_a_database_of_another_program_is_left_alone(postgres: PostgresServer) -> None:
    url = postgres.database()
    postgres.execute(url.rpartition("/")[2], "CREATE TABLE customers (id INT)")
    with pytest.raises(LedgerError, match=r"tables of another program \(customers\)"):
        opened(url)
    assert postgres.execute(url.rpartition("/")[2], "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [
        (1,)
    ]


def test_a_database_that_cannot_hold_every_text_is_refused(postgres: PostgresServer) -> None:
    with pytest.raises(LedgerError, match="has the encoding SQL_ASCII; make one with the encoding UTF8"):
        opened(postgres.database(encoding="SQL_ASCII"))
