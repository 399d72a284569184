"""The ledger's file: tables, pragmas, and the checks made before its content is used."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from records.errors import LedgerError
from records.seals import install

APPLICATION_ID = 0x4B53434C  # "KSCL", in the header of every ledger file
SCHEMA_VERSION = 12
BUSY_MS = 30_000
PAUSE_S = 0.01  # between two tries that SQLite does not wait for
_IN_USE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NOT_WRITABLE = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM}
)

TABLES = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, body TEXT NOT NULL, status TEXT NOT NULL, stop_reason TEXT NOT NULL
) STRICT;
CREATE TABLE experiments (
    run_id TEXT NOT NULL REFERENCES runs, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE attempts (
    run_id TEXT NOT NULL REFERENCES runs, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE evaluations (
    key TEXT NOT NULL, purpose TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs, body TEXT NOT NULL,
    PRIMARY KEY (key, purpose)
) STRICT;
CREATE TABLE calls (
    key TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs, role TEXT NOT NULL, model TEXT NOT NULL,
    prompt TEXT NOT NULL, state TEXT NOT NULL, reserved_usd REAL NOT NULL, reply TEXT,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, usd REAL NOT NULL
) STRICT;
CREATE INDEX calls_by_run ON calls (run_id);
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL REFERENCES runs, key TEXT,
    kind TEXT NOT NULL, body TEXT NOT NULL, at TEXT NOT NULL, UNIQUE (run_id, key)
) STRICT;
CREATE INDEX events_by_run ON events (run_id, number);
"""

COMPARISONS = """
CREATE TABLE comparisons (
    key TEXT PRIMARY KEY, challenger TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs, body TEXT NOT NULL
) STRICT;
CREATE INDEX comparisons_by_challenger ON comparisons (challenger);
"""

PAUSES = """
ALTER TABLE runs ADD COLUMN pause TEXT NOT NULL DEFAULT '';
UPDATE runs SET pause = CASE
    WHEN stop_reason LIKE 'waiting for %' THEN 'waiting'
    WHEN stop_reason LIKE '%resume the run with a larger budget' THEN 'budget'
    WHEN stop_reason = 'interrupted from the keyboard' THEN 'interrupted'
    WHEN stop_reason = 'nobody read its progress any more' THEN 'unread'
    ELSE 'machine' END
    WHERE status = 'paused';
"""  # the words are those of programs before this schema, which recorded nothing else

# Look-ups that do not read a run from its beginning. The columns are computed from the body, which stays the one truth.
LOOK_UPS = """
ALTER TABLE experiments ADD COLUMN generation INTEGER AS (json_extract(body, '$.generation')) VIRTUAL;
CREATE INDEX experiments_by_generation ON experiments (run_id, generation, id);
ALTER TABLE attempts ADD COLUMN generation INTEGER AS (json_extract(body, '$.generation')) VIRTUAL;
ALTER TABLE attempts ADD COLUMN candidate_id TEXT AS (json_extract(body, '$.candidate_id')) VIRTUAL;
ALTER TABLE attempts ADD COLUMN evaluation_key TEXT AS (json_extract(body, '$.evaluation_key')) VIRTUAL;
ALTER TABLE attempts ADD COLUMN status TEXT AS (json_extract(body, '$.status')) VIRTUAL;
CREATE INDEX attempts_by_generation ON attempts (run_id, generation, id);
CREATE INDEX attempts_by_candidate ON attempts (run_id, candidate_id) WHERE status <> 'duplicate';
CREATE INDEX attempts_by_evaluation ON attempts (evaluation_key, run_id) WHERE status <> 'duplicate';
ALTER TABLE evaluations ADD COLUMN code_object TEXT AS (json_extract(body, '$.code_object')) VIRTUAL;
CREATE INDEX evaluations_by_code ON evaluations (code_object);
CREATE INDEX calls_reserved ON calls (run_id) WHERE state = 'reserved';
CREATE TABLE spends (
    run_id TEXT PRIMARY KEY REFERENCES runs, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, usd REAL NOT NULL
) STRICT;
INSERT INTO spends SELECT run_id, count(*), sum(prompt_tokens), sum(completion_tokens), sum(usd)
    FROM calls WHERE state = 'done' GROUP BY run_id;
"""

ARTEFACTS = """
CREATE TABLE artefacts (digest TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT;
"""

EXTENSIONS = """
ALTER TABLE runs ADD COLUMN extensions TEXT NOT NULL DEFAULT '[]';
"""

PROPOSALS = """
CREATE TABLE proposals (
    run_id TEXT NOT NULL REFERENCES runs, generation INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, generation)
) STRICT;
"""

MEMORIES = """
CREATE TABLE memories (
    key TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs, body TEXT NOT NULL, withdrawn TEXT NOT NULL DEFAULT ''
) STRICT;
"""

ESTIMATES = """
ALTER TABLE evaluations ADD COLUMN candidate_id TEXT AS (json_extract(body, '$.candidate_id')) VIRTUAL;
CREATE INDEX estimates_by_candidate ON evaluations (candidate_id) WHERE purpose = 'estimate';
"""

PLACES = """
ALTER TABLE calls ADD COLUMN generation INTEGER;
ALTER TABLE calls ADD COLUMN experiment_id TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN at TEXT NOT NULL DEFAULT '';
"""

READINGS = """
CREATE TABLE readings (
    run_id TEXT NOT NULL REFERENCES runs, place TEXT NOT NULL, experiment_id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, place)
) STRICT;
CREATE INDEX readings_by_experiment ON readings (run_id, experiment_id);
"""

PAYERS = """
ALTER TABLE evaluations ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE evaluations ADD COLUMN at TEXT NOT NULL DEFAULT '';
CREATE TABLE claims (
    key TEXT NOT NULL, purpose TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs, who TEXT NOT NULL,
    until REAL NOT NULL, PRIMARY KEY (key, purpose)
) STRICT;
"""

STEPS = {
    1: COMPARISONS,
    2: PAUSES,
    3: LOOK_UPS,
    4: ARTEFACTS,
    5: EXTENSIONS,
    6: PROPOSALS,
    7: MEMORIES,
    8: ESTIMATES,
    9: PLACES,
    10: READINGS,
    11: PAYERS,
}  # from each version to the next one; no record is changed

UNSEALED = frozenset({"claims", "artefacts"})  # claims end by themselves, and an artefact is checked by its name


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the ledger file; LedgerError when it is damaged, foreign, newer or not writable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
    except OSError as error:
        raise LedgerError(
            f"the ledger {path} cannot be written to ({error.strerror}); choose another run folder"
        ) from None
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _keep_backup(connection, path)
        connection.execute("BEGIN IMMEDIATE")
        _check(connection, path)
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        install(connection, [name for name in names if name not in UNSEALED and not name.startswith("sqlite_")])
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()
        raise LedgerError(explain(error, path)) from None
    except LedgerError:
        connection.close()
        raise
    return connection


def _keep_backup(connection: sqlite3.Connection, path: Path) -> None:
    """Copy a file of an older schema beside itself before it is taken along; one that is there already stays."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    copy = path.with_name(f"{path.name}.schema-{version}")
    if version not in STEPS or copy.exists():
        return
    draft = copy.with_name(f"{copy.name}.{os.getpid()}")
    with closing(sqlite3.connect(draft)) as target:
        connection.backup(target)
    draft.replace(copy)


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite itself waits for no one here where others open the file just now."""
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) not in _IN_USE or time.monotonic() > until:
                raise
        time.sleep(PAUSE_S)


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; errors of Python's own module have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def explain(error: sqlite3.Error, path: Path) -> str:
    """Write one sentence for a person, chosen by SQLite's result code."""
    text = str(error)
    code = _code(error)
    if code in _IN_USE:
        return f"the ledger {path} is in use by another process; try again when that one has ended"
    if code in _DAMAGED:
        return f"the ledger {path} is damaged ({text}); restore it from a copy or choose another run folder"
    if code in _NOT_WRITABLE:
        return f"the ledger {path} cannot be written to ({text}); free some space or repair the folder, then resume"
    return f"the ledger {path} cannot be used ({text}); restore it from a copy or choose another run folder"


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise LedgerError(
            f"the ledger {path} is damaged ({state}); restore it from a copy or choose another run folder"
        )
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not owner:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        _execute(connection, TABLES)
        _take_along(connection, 1)
    elif owner != APPLICATION_ID:
        raise LedgerError(f"{path} is a database of another program, not a ledger; choose another run folder")
    elif version in STEPS:
        _take_along(connection, version)
    elif version != SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {path} has schema {version}, this program knows {SCHEMA_VERSION}; "
            "use the version of the program that wrote it"
        )


def _take_along(connection: sqlite3.Connection, version: int) -> None:
    """Take a file of this version to the present one, within the transaction that checks it."""
    for step in range(version, SCHEMA_VERSION):
        _execute(connection, STEPS[step])
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _execute(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)
