"""Seals: a digest in each row of an SQLite file over all its other columns, written by triggers, checked on reading.

A bit that changes on the disk leaves most files in order for SQLite; the seal of its row no longer fits. The triggers
belong to the connection, not to the file, and are made of the columns that a table has when it is opened, so that a
column that is added is sealed as well. A row that is not sound is not made so by an update.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterable, Sequence
from typing import Any

COLUMN = "seal"
_BYTES = 16  # half of what names an artefact, so that no seal is taken for the name of one


def seal_of(table: str, *values: Any) -> str:
    """Compute the digest over a row's values with their types and lengths, in hex."""
    digest = hashlib.blake2b(table.encode(), digest_size=_BYTES)
    for value in values:
        kind, data = _encoded(value)
        digest.update(kind + struct.pack("<q", len(data)) + data)
    return digest.hexdigest()


def _encoded(value: Any) -> tuple[bytes, bytes]:
    if value is None:
        return b"n", b""
    if isinstance(value, int):
        return b"i", str(value).encode()
    if isinstance(value, float):
        return b"f", struct.pack("<d", value)
    return (b"b", value) if isinstance(value, bytes) else (b"t", value.encode("utf-8", "surrogatepass"))


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """List the columns under the seal: all that are stored, but the seal itself."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()  # computed ones are not listed
    return tuple(row[1] for row in columns if row[1] != COLUMN)


def soundness(connection: sqlite3.Connection, table: str, of: str = "") -> str:
    """Write the expression that is 1 for a row whose seal fits, else 0; `of` is `NEW.` or `OLD.` in a trigger."""
    return f"({of}{COLUMN} IS {_expression(columns_of(connection, table), table, of)})"


def _expression(columns: Sequence[str], table: str, of: str = "") -> str:
    return f"seal_of('{table}', {', '.join(of + column for column in columns)})"


def install(connection: sqlite3.Connection, tables: Iterable[str]) -> None:
    """Have this connection seal what it writes into these tables, and seal the rows that have no seal yet.

    Those are the rows of a program that knew no seals; one that is changed on the disk has one that does not fit.
    """
    connection.create_function("seal_of", -1, seal_of, deterministic=True)
    for table in tables:
        if COLUMN not in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {COLUMN} TEXT NOT NULL DEFAULT ''")
        columns = columns_of(connection, table)
        seal = _expression(columns, table)
        connection.execute(f"UPDATE {table} SET {COLUMN} = {seal} WHERE {COLUMN} = ''")
        seals = f"UPDATE {table} SET {COLUMN} = {_expression(columns, table, 'NEW.')} WHERE rowid = NEW.rowid"
        sound = soundness(connection, table, "OLD.")
        connection.execute(f"CREATE TEMP TRIGGER seal_new_{table} AFTER INSERT ON main.{table} BEGIN {seals}; END")
        connection.execute(
            f"CREATE TEMP TRIGGER seal_changed_{table} AFTER UPDATE OF {', '.join(columns)} ON main.{table} "
            f"WHEN {sound} BEGIN {seals}; END"
        )


def unsound(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    """List the rows of a table whose seal does not fit, each with its `rowid`."""
    names = ("rowid", *columns_of(connection, table))
    query = f"SELECT {', '.join(names)} FROM {table} WHERE NOT {soundness(connection, table)}"
    return [dict(zip(names, row, strict=True)) for row in connection.execute(query)]
