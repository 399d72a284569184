"""Documents on their way into the tables: what has changed is read and cut, and each batch stored in one commit."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from documents.document import Citation, Text, sha256, storable
from documents.document_files import DocumentFile
from documents.reader import DocumentReader
from knowledge import tables
from knowledge.chunks import Chunk, cut
from knowledge.tables import Tables
from records.errors import DocumentError

BATCH_S = 1.0  # of reading: a commit each
_KNOWN = (
    "SELECT f.uri, f.mark, f.why, d.id, d.title, COALESCE(n.passages, 0) FROM files f"
    " LEFT JOIN documents d ON d.number = f.document"
    " LEFT JOIN (SELECT document, COUNT(*) AS passages FROM chunks GROUP BY document) n ON n.document = f.document"
)


class Added(NamedTuple):
    """The outcome of adding one file."""

    id: str  # empty where it was skipped
    title: str
    chunks: int
    status: str  # added | unchanged | replaced | skipped
    why: str = ""  # the reason for which a file was skipped
    name: str = ""  # the id under which a program added it


class Item(NamedTuple):
    """One document, ready to be stored, or its outcome where there is nothing to store."""

    uri: str
    content: Text | Added
    mark: str = ""  # what the file was when it was read; empty where that is known or may have changed since
    chunks: Sequence[Chunk] = ()

    @classmethod
    def of(cls, uri: str, content: Text | DocumentError, mark: str = "") -> Item:
        """Make an item of a document, cut into passages outside of any lock, or of the reason why not, in one line."""
        if isinstance(content, Text):
            return cls(uri, content, mark, cut(content.title, content.body, content.tags))
        return cls(uri, Added("", uri, 0, "skipped", storable(str(content)).replace("\n", "\\n")), mark)


def prepared(
    store: Tables, files: Sequence[DocumentFile], citation: Citation, reader: DocumentReader
) -> Iterator[Item]:
    """Read what has changed since it was last looked at."""
    with store.reading() as db:
        recorded = {row[0]: row[1:] for row in db.execute(_KNOWN)}
    suffix = f"-{storable(str(citation))}" if str(citation) else ""
    for file in files:
        uri, mark = file.uri, file.mark and file.mark + suffix
        if mark and uri in recorded and recorded[uri][0] == mark:
            _, why, identity, title, chunks = recorded[uri]
            yield Item(uri, Added(identity or "", title or uri, chunks, "skipped" if why else "unchanged", why))
            continue
        mark = mark if file.is_settled(time.time_ns()) else ""
        try:
            if file.why:
                raise DocumentError(f"the document {uri} {file.why}")
            yield Item.of(uri, reader.read(Path(file.path), citation, file.rule, file.source, uri), mark)
        except DocumentError as error:
            yield Item.of(uri, DocumentError(str(error).replace(file.path, uri)) if file.address else error, mark)


def batches(items: Iterable[Item], most_s: float = BATCH_S) -> Iterator[list[Item]]:
    """Items in lists that are worth a commit: as many as were ready after so many seconds."""
    batch, until_s = list[Item](), time.monotonic() + most_s
    for item in items:
        batch.append(item)
        if time.monotonic() >= until_s:
            yield batch
            batch, until_s = [], time.monotonic() + most_s
    if batch:
        yield batch


def put(db: sqlite3.Connection, item: Item, fresh: dict[int, Sequence[str]]) -> Added:
    """Store one document, by its place or, so that a copy is not stored twice, its content; `fresh` gets new terms."""
    text = item.content
    if isinstance(text, Added):
        if item.mark:
            db.execute("INSERT OR REPLACE INTO files VALUES(?, ?, NULL, ?)", (item.uri, item.mark, text.why))
        return text
    query = "SELECT number, id, title, sha256 FROM documents WHERE"
    existing = db.execute(f"{query} uri = ?", (text.uri,)).fetchone()
    is_known = existing and existing[3] == text.sha256
    same = existing if is_known else db.execute(f"{query} sha256 = ?", (text.sha256,)).fetchone()
    is_left = existing and not is_known and existing[3] and _left_to_copy(db, existing[0], text.uri)
    if same:
        number, outcome = same[0], Added(same[1], same[2], len(item.chunks), "unchanged", name=text.name)
        if existing and not is_known and not is_left:  # this file has become a copy
            db.execute("DELETE FROM documents WHERE number = ?", existing[:1])
    else:
        identity = sha256(b"", text.uri)[:12]
        number = tables.put_document(db, identity, text)
        fresh |= tables.put_chunks(db, number, item.chunks)
        outcome = Added(identity, text.title, len(item.chunks), "replaced" if existing else "added", name=text.name)
    db.execute("INSERT OR REPLACE INTO files VALUES(?, ?, ?, '')", (item.uri, item.mark, number))
    return outcome


def _left_to_copy(db: sqlite3.Connection, document: int, uri: str) -> bool:
    """Give a document whose own file has changed to another with the same in it, if any, which will be read again."""
    copy = db.execute("SELECT uri FROM files WHERE document = ? AND uri <> ?", (document, uri)).fetchone()
    if copy:
        of_copy = (sha256(b"", *copy)[:12], *copy, document)
        db.execute("UPDATE documents SET id = ?, uri = ?, sha256 = '' WHERE number = ?", of_copy)
        db.execute("DELETE FROM files WHERE uri IN (?, ?)", (uri, *copy))
    return bool(copy)
