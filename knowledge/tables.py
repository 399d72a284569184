"""The knowledge store's SQLite file: documents, passages, postings and vectors. Its own locks are the only ones."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from documents.document import Text
from documents.splitter import SPLITTER
from knowledge import postings
from knowledge.chunks import Chunk, cut
from knowledge.tokens import TOKENISER
from records.errors import KnowledgeError

VERSION = 5  # of the tables
_BATCH = 200  # documents that are derived again at once
MOMENT_S = 10.0  # that a reader waits: the file is shut only while a last connection closes or a first one opens
DERIVED = f"c{SPLITTER}-t{TOKENISER}"  # what passages and postings were made by
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS withheld(uri TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS documents(
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, uri TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL,
    title TEXT NOT NULL, source TEXT NOT NULL, licence TEXT NOT NULL, arch TEXT NOT NULL, tags TEXT NOT NULL,
    body BLOB NOT NULL, added_at TEXT NOT NULL, asks TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '', about TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS documents_by_name ON documents(name);
CREATE INDEX IF NOT EXISTS documents_by_content ON documents(sha256);
CREATE TABLE IF NOT EXISTS chunks(
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, section TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents(number) ON DELETE CASCADE,
    text TEXT NOT NULL, length INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_by_document ON chunks(document, length);
CREATE INDEX IF NOT EXISTS chunks_by_id ON chunks(id);
-- A file that was looked at: what it was then, and its document or the reason why it has none.
CREATE TABLE IF NOT EXISTS files(uri TEXT PRIMARY KEY, mark TEXT NOT NULL,
    document INTEGER REFERENCES documents(number) ON DELETE CASCADE, why TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_by_document ON files(document);
-- Vectors outlive their passages: each was paid for, and a passage that comes back finds its own again.
CREATE TABLE IF NOT EXISTS vectors(
    embedder TEXT NOT NULL, id TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(embedder, id))"""


@dataclass(frozen=True)
class Document:
    """A document as the store knows it."""

    id: str
    title: str
    source: str  # what to cite
    licence: str
    arch: str  # names with a space between, empty where it holds for every GPU
    tags: tuple[str, ...]  # words to be found by, beside those of the text
    uri: str  # where it came from: a path, shipped:NAME or text:NAME
    chunks: int
    added_at: str  # UTC, ISO 8601


@dataclass(frozen=True)
class Hit:
    """One passage. `score` orders the hits of one search and means nothing across searches."""

    score: float
    passage: str  # its id, by which it is cited
    document: str  # document id
    title: str
    section: str  # heading path, "A > B"
    text: str
    source: str
    licence: str
    name: str = ""  # the id under which a program added the document
    about: str = ""  # the metadata that it gave with it, as JSON


class Tables:
    """The file in one folder, made or brought up to date when it is first opened."""

    def __init__(self, folder: Path, wait_s: float) -> None:
        self.folder, self.path, self._wait_s = folder, folder / "knowledge.sqlite", wait_s

    @contextmanager
    def changing(self, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Open a connection of the one writer: the block's work is committed whole, or undone where it raises."""
        with self.reading() as db, _writing(db, self._wait_s if wait_s is None else wait_s):
            yield db

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection to read by."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=MOMENT_S, isolation_level=None)) as db:
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA synchronous = NORMAL")  # with WAL a crash of the machine loses a commit, no file
                self._prepare(db)
                yield db
        except (sqlite3.DatabaseError, zlib.error) as error:
            raise KnowledgeError(self._explained(error)) from error
        except OSError as error:
            raise KnowledgeError(f"the knowledge store {self.folder} cannot be used: {error.strerror}") from error

    def _explained(self, error: Exception) -> str:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
            return f"the knowledge store {self.folder} is locked: another process is writing to it; try again later"
        return f"the knowledge store {self.path} cannot be used ({error}); if it is damaged, delete it and add again"

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables, or make again what an earlier version made of the documents."""
        version = _version(db)
        if version > VERSION:
            raise KnowledgeError(f"the knowledge store {self.path} is of a newer version; use that, or another folder")
        with suppress(sqlite3.OperationalError):  # another process may be just doing the same
            db.execute("PRAGMA journal_mode = WAL")
        if version < VERSION or get_meta(db, "derived") != DERIVED:
            with _writing(db, self._wait_s):
                version = _version(db)  # another process may have been first
                if version < VERSION:
                    _upgrade(db, version)
                if get_meta(db, "derived") != DERIVED:
                    derive(db, self.folder)


@contextmanager
def _writing(db: sqlite3.Connection, wait_s: float) -> Iterator[None]:
    db.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
    db.execute("BEGIN IMMEDIATE")
    with db:
        before = db.total_changes
        yield
        if db.total_changes > before:  # what readers hold in memory is out of date
            set_meta(db, "epoch", secrets.token_hex(8))


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _upgrade(db: sqlite3.Connection, version: int) -> None:
    """Make the tables; of an earlier version's the documents are kept, and vectors where they were bought."""
    for table in ("chunks", "postings", "segments", "placed", *["vectors"] * (version < 2)):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'documents'").fetchone():
        present = {row[1] for row in db.execute("PRAGMA table_info(documents)")}
        for column in ("asks", "name", "about"):
            if column not in present:
                db.execute(f"ALTER TABLE documents ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    for statement in (*_SCHEMA.split(";"), postings.SCHEMA):
        db.execute(statement)
    set_meta(db, "derived", "")
    db.execute(f"PRAGMA user_version = {VERSION}")


def get_meta(db: sqlite3.Connection, key: str) -> str:
    """Read a value, or an empty string."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Write one value."""
    db.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", (key, value))


def list_documents(db: sqlite3.Connection) -> list[Document]:
    """Every document, by title."""
    rows = db.execute(
        "SELECT d.id, d.title, d.source, d.licence, d.arch, d.tags, d.uri, COUNT(c.number), d.added_at"
        " FROM documents d LEFT JOIN chunks c ON c.document = d.number GROUP BY d.number ORDER BY d.title, d.id"
    )
    return [
        Document(identity, title, source, licence, arch, tuple(tags.split()), *details)
        for identity, title, source, licence, arch, tags, *details in rows
    ]


def put_document(db: sqlite3.Connection, identity: str, text: Text) -> int:
    """Insert or update one document by its id; its number."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    body = zlib.compress(text.body.encode("utf-8", "surrogatepass"), 1)
    lists = {"tags": " ".join(text.tags), "asks": "\n".join(text.asks)}
    row = vars(text) | lists | {"body": body, "id": identity, "added_at": now}
    (number,) = db.execute(
        f"INSERT INTO documents({', '.join(row)}) VALUES({', '.join(f':{column}' for column in row)})"
        f" ON CONFLICT(id) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in row)} RETURNING number",
        row,
    ).fetchone()
    return int(number)


def put_chunks(db: sqlite3.Connection, document: int, chunks: Sequence[Chunk]) -> dict[int, Sequence[str]]:
    """Make these the document's passages: new ones come in, missing ones go; the terms of the new by number."""
    old = dict(db.execute("SELECT id, number FROM chunks WHERE document = ?", (document,)).fetchall())
    removed = old.keys() - {chunk.id for chunk in chunks}
    db.executemany("DELETE FROM chunks WHERE number = ?", [(old[identity],) for identity in removed])
    (last,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone() or (0,)
    fresh = list(enumerate((chunk for chunk in chunks if chunk.id not in old), last + 1))
    rows = [(number, c.id, c.section, document, c.text, len(c.terms)) for number, c in fresh]
    db.executemany("INSERT INTO chunks VALUES(?, ?, ?, ?, ?, ?)", rows)
    return {number: chunk.terms for number, chunk in fresh}


def derive(db: sqlite3.Connection, folder: Path) -> int:
    """Make passages and postings again from the stored documents; how many passages."""
    shutil.rmtree(folder / "chroma", ignore_errors=True)  # for they are numbered from 1 again
    for table in ("chunks", "postings", "sqlite_sequence"):
        db.execute(f"DELETE FROM {table}")
    rows = db.execute("SELECT number, title, tags, body FROM documents")
    while some := rows.fetchmany(_BATCH):
        added: dict[int, Sequence[str]] = {}
        for number, title, tags, body in some:
            added |= put_chunks(db, number, cut(title, unpacked(body), tags.split()))
        postings.add(db, added)
    set_meta(db, "derived", DERIVED)
    return int(db.execute("SELECT COUNT(*) FROM chunks").fetchone()[0])


def named(db: sqlite3.Connection, ids: Sequence[str]) -> list[tuple[int, str, str, str, str]]:
    """Find the documents that a program added under these ids, or that have them: number, id, name, about, text."""
    query = (
        "SELECT number, id, name, about, body FROM documents"
        " WHERE about <> '' AND (CASE name WHEN '' THEN id ELSE name END) IN (SELECT value FROM json_each(?))"
    )
    rows = db.execute(query, (json.dumps(list(ids)),)).fetchall()
    return [(number, identity, name, about, unpacked(body)) for number, identity, name, about, body in rows]


def unpacked(body: bytes | str) -> str:
    """Unpack the text of a stored document, packed but for the first version; zlib.error where it is damaged."""
    return body if isinstance(body, str) else zlib.decompress(body).decode("utf-8", "surrogatepass")


def hits(db: sqlite3.Connection, ranked: Sequence[tuple[int, float]]) -> list[Hit]:
    """Passages by number, ready to be cited, with their scores and in their order."""
    rows = db.execute(
        "SELECT c.number, SUBSTR(c.id, 1, 12), d.id, d.title, c.section, c.text, d.source, d.licence,"
        " d.name, d.about FROM chunks c"
        " JOIN documents d ON d.number = c.document WHERE c.number IN (SELECT value FROM json_each(?))",
        (json.dumps([number for number, _ in ranked]),),
    )
    fields_of = {number: fields for number, *fields in rows}
    return [Hit(round(score, 6), *fields_of[number]) for number, score in ranked]
