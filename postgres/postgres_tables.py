"""The ledger's tables in Postgres, and the checks made before their content is used.

They are those of `records.schema`, but for the types, and for columns that SQLite computes and Postgres is given. A
`rowid` counts the rows as SQLite's does, and texts are ordered by their bytes whatever the database's collation is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from postgres.postgres_seals import mark, reseal
from records.errors import LedgerError, NoRecords
from records.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    import psycopg

_ROW = "rowid BIGINT GENERATED ALWAYS AS IDENTITY"
_RUN = 'run_id TEXT COLLATE "C" NOT NULL REFERENCES runs'
_TEXT = 'TEXT COLLATE "C" NOT NULL'

TABLES = f"""
CREATE TABLE runs (
    id TEXT COLLATE "C" PRIMARY KEY, body TEXT NOT NULL, status TEXT NOT NULL, stop_reason TEXT NOT NULL,
    pause TEXT NOT NULL DEFAULT '', extensions TEXT NOT NULL DEFAULT '[]', {_ROW}
);
CREATE TABLE experiments (
    {_RUN}, id {_TEXT}, body TEXT NOT NULL, generation INTEGER NOT NULL, {_ROW}, PRIMARY KEY (run_id, id)
);
CREATE INDEX experiments_by_generation ON experiments (run_id, generation, id);
CREATE TABLE attempts (
    {_RUN}, id {_TEXT}, body TEXT NOT NULL, generation INTEGER NOT NULL, candidate_id {_TEXT},
    evaluation_key {_TEXT}, status TEXT NOT NULL, {_ROW}, PRIMARY KEY (run_id, id)
);
CREATE INDEX attempts_by_generation ON attempts (run_id, generation, id);
CREATE INDEX attempts_by_candidate ON attempts (run_id, candidate_id) WHERE status <> 'duplicate';
CREATE INDEX attempts_by_evaluation ON attempts (evaluation_key, run_id) WHERE status <> 'duplicate';
CREATE TABLE evaluations (
    key {_TEXT}, purpose TEXT NOT NULL, {_RUN}, body TEXT NOT NULL, code_object TEXT, candidate_id {_TEXT},
    who TEXT NOT NULL DEFAULT '', at TEXT NOT NULL DEFAULT '', {_ROW}, PRIMARY KEY (key, purpose)
);
CREATE INDEX evaluations_by_code ON evaluations (code_object);
CREATE INDEX estimates_by_candidate ON evaluations (candidate_id) WHERE purpose = 'estimate';
CREATE TABLE claims (
    key {_TEXT}, purpose TEXT NOT NULL, {_RUN}, who TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, {_ROW},
    PRIMARY KEY (key, purpose)
);
CREATE TABLE comparisons (key {_TEXT} PRIMARY KEY, challenger {_TEXT}, {_RUN}, body TEXT NOT NULL, {_ROW});
CREATE INDEX comparisons_by_challenger ON comparisons (challenger);
CREATE TABLE calls (
    key {_TEXT} PRIMARY KEY, {_RUN}, role TEXT NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL,
    state TEXT NOT NULL, reserved_usd DOUBLE PRECISION NOT NULL, reply TEXT, prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL, usd DOUBLE PRECISION NOT NULL, generation INTEGER,
    experiment_id TEXT NOT NULL DEFAULT '', number INTEGER NOT NULL DEFAULT 0, at TEXT NOT NULL DEFAULT '', {_ROW}
);
CREATE INDEX calls_by_run ON calls (run_id);
CREATE INDEX calls_reserved ON calls (run_id) WHERE state = 'reserved';
CREATE TABLE spends (
    run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES runs, calls BIGINT NOT NULL, prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL, usd DOUBLE PRECISION NOT NULL
);
CREATE TABLE events (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {_RUN}, key TEXT COLLATE "C", kind TEXT NOT NULL,
    body TEXT NOT NULL, at TEXT NOT NULL, UNIQUE (run_id, key)
);
CREATE INDEX events_by_run ON events (run_id, number);
CREATE TABLE artefacts (digest TEXT COLLATE "C" PRIMARY KEY, content BYTEA NOT NULL);
CREATE TABLE proposals (
    {_RUN}, generation INTEGER NOT NULL, body TEXT NOT NULL, {_ROW}, PRIMARY KEY (run_id, generation)
);
CREATE TABLE memories (
    key {_TEXT} PRIMARY KEY, {_RUN}, body TEXT NOT NULL, withdrawn TEXT NOT NULL DEFAULT '', {_ROW}
);
CREATE TABLE readings (
    {_RUN}, place {_TEXT}, experiment_id TEXT NOT NULL, body TEXT NOT NULL, {_ROW}, PRIMARY KEY (run_id, place)
);
CREATE INDEX readings_by_experiment ON readings (run_id, experiment_id);
CREATE TABLE holders (run_id TEXT COLLATE "C" PRIMARY KEY, process TEXT NOT NULL, who TEXT NOT NULL);
"""

# The first entry makes an empty database one of its version; each further one takes it to the next.
MIGRATIONS: Sequence[tuple[int, str]] = ((12, TABLES),)
assert MIGRATIONS[-1][0] == SCHEMA_VERSION, "a new schema needs its step here too"

_MAKING = 0x4B53434C  # the advisory lock of those who make or change tables
_OURS = """SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relname = 'ledger_schema'"""
_FOREIGN = """SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname LIMIT 3"""


def prepare(
    db: psycopg.Connection, database: str, create: bool, migrations: Sequence[tuple[int, str]] = MIGRATIONS
) -> None:
    """Make the tables in an empty database, or take older ones along; nothing is written where they are up to date.

    Raises:
        NoRecords: the database is empty, and is not to be made.
        LedgerError: it is another program's, newer, or of an encoding that cannot hold every text.
    """
    if _version(db) == migrations[-1][0]:
        return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        version = _version(db)
        if version is None:
            if not create:
                raise NoRecords(f"there are no runs in {database}; `kernel-scientist demo` makes one")
            _refuse_foreign(db, database)
            db.execute("CREATE TABLE ledger_schema (version INTEGER PRIMARY KEY, at TIMESTAMPTZ DEFAULT now())")
        elif version not in [step for step, _ in migrations]:
            raise LedgerError(
                f"the ledger {database} has schema {version}, this program knows {migrations[-1][0]}; "
                "use the version of the program that wrote it"
            )
        mark(db)
        for step, statements in migrations:
            if version is None or step > version:
                db.execute(statements.encode(), prepare=False)
                db.execute("INSERT INTO ledger_schema (version) VALUES (%s)", (step,))
        reseal(db)


def _version(db: psycopg.Connection) -> int | None:
    """Read the schema of the tables; None where there are none."""
    if not db.execute(_OURS).fetchone():  # read from the table of tables: a name looked up is remembered as absent
        return None
    (version,) = db.execute("SELECT max(version) FROM ledger_schema").fetchone() or (None,)
    return int(version or 0)


def _refuse_foreign(db: psycopg.Connection, database: str) -> None:
    (encoding,) = db.execute(
        "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()"
    ).fetchone() or ("",)
    if encoding != "UTF8":
        raise LedgerError(f"the database {database} has the encoding {encoding}; make one with the encoding UTF8")
    tables = [row[0] for row in db.execute(_FOREIGN)]
    if tables:
        raise LedgerError(
            f"the database {database} holds tables of another program ({', '.join(tables)}), not a ledger; "
            "give the ledger a database of its own"
        )
