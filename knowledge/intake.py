"""Files on their way into the tables: read where they have changed, in batches, each stored in one commit."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from knowledge import tables
from knowledge.document_files import Found
from knowledge.documents import Added, Citation, Text, storable
from knowledge.reader import DocumentReader
from knowledge.tables import Cut, Tables
from records.errors import DocumentError

BATCH_CHARACTERS = 2_000_000  # of text: a commit each
_KNOWN = (
    "SELECT f.uri, f.mark, f.why, d.id, d.title, COALESCE(n.passages, 0) FROM files f"
    " LEFT JOIN documents d ON d.number = f.document"
    " LEFT JOIN (SELECT document, COUNT(*) AS passages FROM chunks GROUP BY document) n ON n.document = f.document"
)


class Item(NamedTuple):
    """One file, ready to be stored, or its outcome where there is nothing to store."""

    uri: str
    mark: str  # what the file was when it was read; empty where that is known or may have changed since
    made: Cut | Added

    @property
    def is_known(self) -> bool:
        """True where nothing has to be written."""
        return isinstance(self.made, Added) and not self.mark


def prepared(store: Tables, found: Sequence[Found], given: Citation, reader: DocumentReader) -> Iterator[Item]:
    """Read what has changed since it was last looked at; outside of any lock."""
    with store.reading() as db:
        known = {row[0]: row for row in db.execute(_KNOWN)}
    suffix = f"-{storable(str(given))}" if str(given) else ""
    for one in found:
        uri, mark = one.uri, one.mark and one.mark + suffix
        if mark and uri in known and known[uri][1] == mark:
            _, _, why, identity, title, chunks = known[uri]
            status = "skipped" if why else "unchanged"
            yield Item(uri, "", Added(identity or "", title or uri, chunks, status, why))
            continue
        mark = mark if one.is_settled(time.time_ns()) else ""
        try:
            if one.why:
                raise DocumentError(f"the document {uri} {one.why}")
            yield Item(uri, mark, Cut.of(_read(one, given, reader)))
        except DocumentError as error:
            why = str(error).replace(one.path, uri) if one.address else str(error)
            yield Item(uri, mark, Added("", uri, 0, "skipped", storable(why).replace("\n", "\\n")))  # a line each


def _read(one: Found, given: Citation, reader: DocumentReader) -> Text:
    rule = one.rule
    rest = replace(rule, source=f"{rule.source}: {one.source}" if rule.source else one.source)
    text = reader.read(Path(one.path), given, rest, one.uri)
    key = f"{text.sha256}{rule}"  # another rule makes another document
    return replace(text, sha256=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()) if str(rule) else text


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in lists that are worth a commit."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.made.text.body) + 500 if isinstance(item.made, Cut) else 100
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def put(db: sqlite3.Connection, item: Item, fresh: dict[int, list[str]]) -> Added:
    """Store one file: by its place if that is known, else by its content, so that a copy is not stored twice.

    The terms of new passages go into `fresh` by passage number.
    """
    made = item.made
    if isinstance(made, Added):
        if made.status == "skipped" and item.mark:
            db.execute("INSERT OR REPLACE INTO files VALUES(?, ?, NULL, ?)", (item.uri, item.mark, made.why))
        return made
    text = made.text
    query = "SELECT number, id, title, sha256 FROM documents WHERE"
    known = db.execute(f"{query} uri = ?", (text.uri,)).fetchone()
    same = known or db.execute(f"{query} sha256 = ?", (text.sha256,)).fetchone()
    if same and same[3] == text.sha256:
        number, outcome = same[0], Added(same[1], same[2], len(made.chunks), "unchanged")
    else:
        identity = hashlib.sha256(text.uri.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        number = tables.put_document(db, identity, text, datetime.now(UTC).isoformat(timespec="seconds"))
        fresh |= tables.put_chunks(db, number, made)
        outcome = Added(identity, text.title, len(made.chunks), "replaced" if known else "added")
    if item.mark:
        db.execute("INSERT OR REPLACE INTO files VALUES(?, ?, ?, '')", (item.uri, item.mark, number))
    return outcome
