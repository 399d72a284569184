"""Seals in Postgres: a digest in each row over all its other columns, written by triggers, checked on reading.

As in SQLite (records/seals.py), a row that changes on the server's disk has a seal that does not fit, and an update
does not make it sound. The triggers are the server's, so that an older program's rows are sealed too; what a person
writes by hand is sealed like any other. A role that does not own the tables cannot add seals to a ledger of an older
program: its rows are read as they are until the owner has opened it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psycopg import errors

from records.schema import UNSEALED
from records.seals import COLUMN

if TYPE_CHECKING:
    import psycopg

NO_SEALS = UNSEALED | {"holders", "ledger_schema"}
_DAMAGED = "not as written"  # in place of the seal, while all others are written again
_COLUMNS = """SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name NOT LIKE 'checkpoint%' ORDER BY table_name, ordinal_position"""
_KEEPER = f"""CREATE OR REPLACE FUNCTION keep_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR OLD.{COLUMN} = seal_of(OLD) THEN
        NEW.{COLUMN} := seal_of(NEW);
    END IF;
    RETURN NEW;
END $$"""
_MISSING = (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)


def soundness(table: str) -> str:
    """Write the expression that is true for a row whose seal fits."""
    return f"({table}.{COLUMN} = seal_of({table}.*))"


def install(db: psycopg.Connection) -> bool:
    """Add seals to the tables that have none, each in a transaction of its own; False where this role may not."""
    waiting = [table for table, columns in _sealable(db).items() if COLUMN not in columns]
    try:
        for table in waiting:
            with db.transaction():
                _execute(db, "SELECT pg_advisory_xact_lock(hashtext('seals'))")
                if COLUMN in _sealable(db)[table]:  # another process was faster
                    continue
                _execute(db, _KEEPER)
                _execute(db, f"ALTER TABLE {table} ADD COLUMN {COLUMN} TEXT NOT NULL DEFAULT ''")
                _execute(db, _function(table, _sealable(db)[table]))
                _execute(db, f"UPDATE {table} SET {COLUMN} = seal_of({table}.*)")
                trigger = f"CREATE TRIGGER keep_seal BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW"
                _execute(db, f"{trigger} EXECUTE FUNCTION keep_seal()")
    except _MISSING:
        return False
    return True


def mark(db: psycopg.Connection) -> None:
    """Mark the rows that are not sound, before the columns of sealed tables change."""
    for table, columns in _sealable(db).items():
        if COLUMN in columns:
            _execute(db, f"UPDATE {table} SET {COLUMN} = '{_DAMAGED}' WHERE NOT {soundness(table)}")


def reseal(db: psycopg.Connection) -> None:
    """Seal all rows but the marked ones again, after the columns of sealed tables have changed."""
    for table, columns in _sealable(db).items():
        if COLUMN in columns:
            _execute(db, _function(table, columns))
            _execute(db, f"UPDATE {table} SET {COLUMN} = seal_of({table}.*) WHERE {COLUMN} <> '{_DAMAGED}'")


def _sealable(db: psycopg.Connection) -> dict[str, dict[str, str]]:
    """List the tables under seals, each with the types of its columns."""
    tables = dict[str, dict[str, str]]()
    for table, column, kind in db.execute(_COLUMNS).fetchall():
        if table not in NO_SEALS:
            tables.setdefault(table, {})[column] = kind
    return tables


def _function(table: str, columns: dict[str, str]) -> str:
    """Write the function of a row's digest; no setting of a session changes the text of what it is made of."""
    row = [_text(f"r.{name}", kind) for name, kind in columns.items() if name != COLUMN]
    digest = f"encode(sha256(convert_to(ROW('{table}', {', '.join(row)})::text, 'UTF8')), 'hex')"
    return f"CREATE OR REPLACE FUNCTION seal_of(r {table}) RETURNS text LANGUAGE sql STABLE AS $$ SELECT {digest} $$"


def _text(column: str, kind: str) -> str:
    return f"encode(float8send({column}), 'hex')" if kind == "double precision" else f"{column}::text"


def unsound(read: Any, table: str) -> list[dict[str, Any]]:
    """List the rows of a table whose seal does not fit, each with its place in the table as `rowid`."""
    names = [column for name, column, _ in read(_COLUMNS) if name == table and column not in ("rowid", COLUMN)]
    place = f"(({table}.ctid::text::point)[0]::bigint << 16) + ({table}.ctid::text::point)[1]::bigint"
    rows: Sequence[Sequence[Any]] = read(
        f"SELECT {place}, {', '.join(names)} FROM {table} WHERE NOT {soundness(table)}"
    )
    return [dict(zip(("rowid", *names), row, strict=True)) for row in rows]


def removal(table: str, rowid: int) -> str:
    """Write the statement that takes out the row at a place, where it still is not sound."""
    return f"DELETE FROM {table} WHERE ctid = '({rowid >> 16},{rowid & 0xFFFF})'::tid AND NOT {soundness(table)}"


def _execute(db: psycopg.Connection, statement: str) -> None:
    db.execute(statement.encode(), prepare=False)
