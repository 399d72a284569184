"""The primary data of the knowledge store: documents, chunks, postings and vectors in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from knowledge.chunks import Chunk
from knowledge.documents import Document, Text
from knowledge.tokens import tokens
from records.errors import KnowledgeError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS withheld(uri TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS documents(
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, uri TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL,
    title TEXT NOT NULL, source TEXT NOT NULL, licence TEXT NOT NULL, arch TEXT NOT NULL, tags TEXT NOT NULL,
    body TEXT NOT NULL, added_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chunks(
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, ordinal INTEGER NOT NULL, section TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents(number) ON DELETE CASCADE,
    text TEXT NOT NULL, length INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_by_document ON chunks(document);
CREATE TABLE IF NOT EXISTS postings(
    term TEXT NOT NULL, chunk INTEGER NOT NULL REFERENCES chunks(number) ON DELETE CASCADE, count INTEGER NOT NULL,
    PRIMARY KEY(term, chunk)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS postings_by_chunk ON postings(chunk);
CREATE TABLE IF NOT EXISTS vectors(
    chunk INTEGER PRIMARY KEY REFERENCES chunks(number) ON DELETE CASCADE,
    embedder TEXT NOT NULL, vector BLOB NOT NULL);
"""


@dataclass(frozen=True)
class Passage:
    """A stored chunk with the citation of its document."""

    number: int
    document: str
    title: str
    section: str
    text: str
    source: str
    licence: str


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose work is committed at the end of the block, or undone where it raises.

    Raises:
        KnowledgeError: the file is damaged, locked or not writable.
    """
    connection = None
    try:
        connection = sqlite3.connect(path, timeout=10.0)
        connection.execute("PRAGMA foreign_keys = ON")
        with connection:
            yield connection
    except sqlite3.DatabaseError as error:
        raise KnowledgeError(
            f"the knowledge store {path} cannot be used ({error}); if it is damaged, delete it and add again"
        ) from error
    finally:
        if connection is not None:
            connection.close()


def create(path: Path) -> None:
    """Make the tables where they are missing."""
    with opened(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SCHEMA)


def get_meta(db: sqlite3.Connection, key: str) -> str:
    """A value, or an empty string."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Write one value."""
    db.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", (key, value))


def list_documents(db: sqlite3.Connection) -> list[Document]:
    """Every document, by title."""
    rows = db.execute(
        "SELECT d.id, d.title, d.source, d.licence, d.arch, d.tags, d.uri, d.sha256, COUNT(c.number), d.added_at"
        " FROM documents d LEFT JOIN chunks c ON c.document = d.number GROUP BY d.number ORDER BY d.title, d.id"
    )
    return [
        Document(identity, title, source, licence, arch, tuple(tags.split()), uri, sha256, chunks, added_at)
        for identity, title, source, licence, arch, tags, uri, sha256, chunks, added_at in rows
    ]


def put_document(db: sqlite3.Connection, identity: str, text: Text, added_at: str) -> int:
    """Insert or update one document by its id; its number."""
    db.execute(
        "INSERT INTO documents(id, uri, sha256, title, source, licence, arch, tags, body, added_at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET sha256 = excluded.sha256,"
        " title = excluded.title, source = excluded.source, licence = excluded.licence, arch = excluded.arch,"
        " tags = excluded.tags, body = excluded.body, added_at = excluded.added_at",
        (
            identity,
            text.uri,
            text.sha256,
            text.title,
            text.source,
            text.licence,
            text.arch,
            " ".join(text.tags),
            text.body,
            added_at,
        ),
    )
    return int(db.execute("SELECT number FROM documents WHERE id = ?", (identity,)).fetchone()[0])


def put_chunks(db: sqlite3.Connection, document: int, title: str, chunks: Sequence[Chunk]) -> None:
    """Make these the document's chunks: new ones come in, missing ones go, the rest stays as it is."""
    old = {row[0] for row in db.execute("SELECT id FROM chunks WHERE document = ?", (document,))}
    for gone in old - {chunk.id for chunk in chunks}:
        db.execute("DELETE FROM chunks WHERE id = ?", (gone,))
    for chunk in chunks:
        if chunk.id in old:
            db.execute("UPDATE chunks SET ordinal = ? WHERE id = ?", (chunk.ordinal, chunk.id))
            continue
        terms = tokens(f"{title}\n{chunk.section}\n{chunk.text}")
        row = db.execute(
            "INSERT INTO chunks(id, ordinal, section, document, text, length) VALUES(?, ?, ?, ?, ?, ?)"
            " RETURNING number",
            (chunk.id, chunk.ordinal, chunk.section, document, chunk.text, len(terms)),
        ).fetchone()
        db.executemany(
            "INSERT INTO postings VALUES(?, ?, ?)", [(term, row[0], n) for term, n in Counter(terms).items()]
        )


def texts_without_vector(db: sqlite3.Connection, embedder: str) -> list[tuple[int, str]]:
    """Chunk numbers with the text to embed, where the vector is missing or another embedder's."""
    rows = db.execute(
        "SELECT c.number, d.title, c.section, c.text FROM chunks c JOIN documents d ON d.number = c.document"
        " LEFT JOIN vectors v ON v.chunk = c.number WHERE v.embedder IS NOT ? ORDER BY c.number",
        (embedder,),
    )
    return [(number, f"{title}\n{section}\n{text}") for number, title, section, text in rows]


def put_vectors(db: sqlite3.Connection, embedder: str, vectors: Mapping[int, bytes]) -> None:
    """Store float32 vectors by chunk number."""
    rows = [(chunk, embedder, vector) for chunk, vector in vectors.items()]
    db.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", rows)


def vectors(db: sqlite3.Connection, chunks: Iterable[int] | None = None) -> dict[int, bytes]:
    """Stored vectors by chunk number: all, or those asked for."""
    if chunks is None:
        return dict(db.execute("SELECT chunk, vector FROM vectors ORDER BY chunk"))
    found = {}
    for chunk in chunks:
        found.update(dict(db.execute("SELECT chunk, vector FROM vectors WHERE chunk = ?", (chunk,))))
    return found


def passage(db: sqlite3.Connection, chunk: int) -> Passage:
    """One chunk, ready to be cited."""
    row = db.execute(
        "SELECT c.number, d.id, d.title, c.section, c.text, d.source, d.licence"
        " FROM chunks c JOIN documents d ON d.number = c.document WHERE c.number = ?",
        (chunk,),
    ).fetchone()
    return Passage(*row)
