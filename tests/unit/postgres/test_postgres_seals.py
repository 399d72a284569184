"""Seals in Postgres: a row that changed below the server is found, put aside or told, and never believed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from postgres.database_address import address_of
from postgres.postgres_engine import PostgresEngine
from postgres.postgres_seals import NO_SEALS
from postgres.postgres_tables import MIGRATIONS, prepare
from records.errors import DamagedRecord
from records.ledger import Ledger
from records.schema import SCHEMA_VERSION
from tests.support.postgres_server import PostgresServer
from tests.unit.records.test_ledger import RUN

COLUMNS = """SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'
    AND column_name <> 'seal' ORDER BY table_name, ordinal_position"""


def opened(url: str) -> Ledger:
    return Ledger(PostgresEngine(address_of(url)))


@contextmanager
def below(url: str) -> Iterator[psycopg.Connection]:
    """A session whose writes no trigger sees, as those of a disk."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SET session_replication_role = replica")
        yield db


def filled(url: str) -> dict[str, dict[str, str]]:
    """Write a row into every sealed table; its columns with their types."""
    tables = dict[str, dict[str, str]]()
    with psycopg.connect(url, autocommit=True) as db:
        for table, column, kind in db.execute(COLUMNS).fetchall():
            if table not in NO_SEALS:
                tables.setdefault(table, {})[column] = kind
        for table in sorted(tables, key=lambda name: name != "runs"):
            columns = {n: k for n, k in tables[table].items() if n != "rowid" and (table, n) != ("events", "number")}
            values = [RUN.id if n in ("id", "run_id") else "7" if k == "text" else 0.1 for n, k in columns.items()]
            marks = ", ".join(["%s"] * len(values))
            db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})".encode(), values)
    return tables


def flipped(value: Any) -> Any:
    if isinstance(value, float):
        return struct.unpack("<d", struct.pack("<Q", struct.unpack("<Q", struct.pack("<d", value))[0] ^ 1))[0]
    return value ^ 1 if isinstance(value, int) else value[:-1] + chr(ord(value[-1]) ^ 1)


def test_a_flipped_bit_in_any_column_is_found_whatever_a_session_is_set_to(postgres: PostgresServer) -> None:
    url, tried = postgres.ledger(), 0
    tables = filled(url)
    with opened(url) as ledger, below(url) as db:
        ledger.engine.read("SELECT set_config('extra_float_digits', '-15', false)")
        for table, column in [(table, column) for table, columns in tables.items() for column in columns]:
            assert ledger.engine.unsound(table) == [], table
            ((value,),) = db.execute(f"SELECT {column} FROM {table}".encode()).fetchall()
            if column == "rowid" or (table, column) == ("events", "number"):
                continue  # the server lets nobody write it
            for put, count in ((flipped(value), 1), (value, 0)):
                db.execute(f"UPDATE {table} SET {column} = %s".encode(), (put,))
                assert len(ledger.engine.unsound(table)) == count, f"{table}.{column}"
            tried += 1
    assert tried > 55


def test_a_damaged_row_is_not_read_not_made_sound_and_put_aside_alone(postgres: PostgresServer) -> None:
    url = postgres.ledger()
    with opened(url) as ledger, below(url) as db:
        ledger.add_run(RUN)
        for key in ("one", "two"):
            ledger.event(RUN.id, "warning", {"message": key}, key)
        db.execute("UPDATE events SET body = replace(body, 'one', 'won')")
        (row,) = ledger.damaged(RUN.id)
        ledger.put_aside([row])
        assert [event.payload["message"] for event in ledger.events(RUN.id)] == ["two"]
        assert ledger.damaged(RUN.id) == ()
        db.execute("UPDATE runs SET body = replace(body, %s, 'other')", (RUN.task,))
        ledger.finish(RUN.id, "paused", "again", "machine")
        assert [row.table for row in ledger.damaged(RUN.id)] == ["runs"]
        with pytest.raises(DamagedRecord, match=r"the row .* of runs in postgresql"):
            ledger.runs()


def test_a_ledger_without_seals_gets_them_and_a_step_of_the_schema_keeps_what_they_say(
    postgres: PostgresServer,
) -> None:
    url = postgres.ledger()
    with opened(url) as ledger:
        ledger.add_run(RUN)
    with below(url) as db:
        db.execute("DROP TRIGGER keep_seal ON runs")
        db.execute("ALTER TABLE runs DROP COLUMN seal")
        db.execute("DROP FUNCTION seal_of(runs)")
    with opened(url) as ledger, below(url) as db:
        assert ledger.runs() == (RUN,)
        ledger.event(RUN.id, "warning", {"message": "one"}, "one")
        db.execute("UPDATE events SET body = replace(body, 'one', 'won')")
        later = (*MIGRATIONS, (SCHEMA_VERSION + 1, "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"))
        prepare(db, "here", create=False, migrations=later)
        assert [row.table for row in ledger.damaged(RUN.id)] == ["events"]
        db.execute("UPDATE runs SET colour = 'blue'")
        assert {row.table for row in ledger.damaged(RUN.id)} == {"events", "runs"}
