"""Files, texts and LangChain documents on their way into the tables, each batch stored in one commit."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from documents.document import UNSAID, Citation, Text, make_text, said, sha256, storable
from documents.document_files import Found
from documents.encodings import clean
from documents.given_values import is_text, require
from documents.reader import DocumentReader
from knowledge import tables
from knowledge.chunks import Chunk, cut
from knowledge.tables import Tables
from records.errors import DocumentError
from records.quantity import counted

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangDocument

BATCH_CHARACTERS, BATCH_S = 2_000_000, 2.0  # of text, and of reading slow files: a commit each
MOST_NAME = 1000  # characters
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


class Item(NamedTuple):
    """One file, ready to be stored, or its outcome where there is nothing to store."""

    uri: str
    mark: str  # what the file was when it was read; empty where that is known or may have changed since
    made: Text | Added
    chunks: Sequence[Chunk] = ()

    @classmethod
    def of(cls, text: Text, mark: str = "") -> Item:
        """A document, cut into passages outside of any lock."""
        return cls(text.uri, mark, text, cut(text.title, text.body, text.tags))

    @property
    def is_known(self) -> bool:
        """True where nothing has to be written."""
        return isinstance(self.made, Added) and not self.mark


def prepared(store: Tables, found: Sequence[Found], given: Citation, reader: DocumentReader) -> Iterator[Item]:
    """Read what has changed since it was last looked at; outside of any lock."""
    with store.reading() as db:
        known = {row[0]: row[1:] for row in db.execute(_KNOWN)}
    suffix = f"-{storable(str(given))}" if str(given) else ""
    for one in found:
        uri, mark = one.uri, one.mark and one.mark + suffix
        if mark and uri in known and known[uri][0] == mark:
            _, why, identity, title, chunks = known[uri]
            yield Item(uri, "", Added(identity or "", title or uri, chunks, "skipped" if why else "unchanged", why))
            continue
        mark = mark if one.is_settled(time.time_ns()) else ""
        try:
            if one.why:
                raise DocumentError(f"the document {uri} {one.why}")
            yield Item.of(reader.read(Path(one.path), given, one.rule, one.source, uri), mark)
        except DocumentError as error:
            why = str(error).replace(one.path, uri) if one.address else str(error)
            yield Item(uri, mark, Added("", uri, 0, "skipped", storable(why).replace("\n", "\\n")))  # a line each


def batches(items: Iterable[Item], most_s: float = BATCH_S) -> Iterator[list[Item]]:
    """Items in lists that are worth a commit: of enough text, or as many as were ready after so many seconds."""
    batch: list[Item] = []
    size, until_s = 0, time.monotonic() + most_s
    for item in items:
        batch.append(item)
        size += len(item.made.body) + 500 if isinstance(item.made, Text) else 100
        if size >= BATCH_CHARACTERS or time.monotonic() >= until_s:
            yield batch
            batch, size, until_s = [], 0, time.monotonic() + most_s
    if batch:
        yield batch


def put(db: sqlite3.Connection, item: Item, fresh: dict[int, Sequence[str]]) -> Added:
    """Store one file: by its place if that is known, else by its content, so that a copy is not stored twice.

    The terms of new passages go into `fresh` by passage number.
    """
    text = item.made
    if isinstance(text, Added):
        if text.status == "skipped" and item.mark:
            db.execute("INSERT OR REPLACE INTO files VALUES(?, ?, NULL, ?)", (item.uri, item.mark, text.why))
        return text
    query = "SELECT number, id, title, sha256 FROM documents WHERE"
    known = db.execute(f"{query} uri = ?", (text.uri,)).fetchone()
    is_known = known and known[3] == text.sha256
    same = known if is_known else db.execute(f"{query} sha256 = ?", (text.sha256,)).fetchone()
    is_left = known and not is_known and known[3] and _left_to_copy(db, known[0], text.uri)
    if same:
        number, outcome = same[0], Added(same[1], same[2], len(item.chunks), "unchanged")
        if known and not is_known and not is_left:  # this file has become a copy
            db.execute("DELETE FROM documents WHERE number = ?", known[:1])
            tables.touch(db)
    else:
        identity = sha256(b"", text.uri)[:12]
        number = tables.put_document(db, identity, text)
        fresh |= tables.put_chunks(db, number, item.chunks)
        outcome = Added(identity, text.title, len(item.chunks), "replaced" if known else "added")
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


def require_any(outcomes: list[Added]) -> None:
    """Raise DocumentError where every file was skipped."""
    if outcomes and all(one.status == "skipped" for one in outcomes):
        more = f" (skipped too: {counted(len(outcomes) - 1, 'other file')})" if len(outcomes) > 1 else ""
        raise DocumentError(outcomes[0].why + more)


def cited(given: Citation | None) -> Citation:
    """The citation, or an empty one; UsageError for anything else."""
    require(given is None or isinstance(given, Citation), "what is said of documents is a Citation", given)
    return given or UNSAID


def text_item(name: str, text: str, given: Citation) -> Item:
    """A text under its name; DocumentError where it is empty."""
    is_name = is_text(name) and len(name) <= MOST_NAME and is_text(clean(name))
    require(is_name, f"a document's name is text of at most {MOST_NAME} characters", name)
    require(isinstance(text, str), f"the text of the document {name[:60]} is a str", text)
    return _item(name, name, text, given)


def document_items(documents: Iterable[LangDocument]) -> list[Item]:
    """One for each of LangChain's documents; an empty one is an outcome already."""
    is_list = isinstance(documents, Iterable) and not hasattr(documents, "page_content")
    require(is_list, "documents are a list of LangChain's", documents)
    items = []
    for document in documents:
        text, metadata = getattr(document, "page_content", None), getattr(document, "metadata", None)
        is_one = isinstance(text, str) and isinstance(metadata, Mapping)
        require(is_one, "a LangChain document has a page_content, which is text, and metadata", document)
        given = Citation.of(document.metadata)
        place = f"{given.source}#{said(document.metadata.get('page'))}" if given.source else ""
        digest = sha256(b"", document.page_content)[:12]
        identity = getattr(document, "id", None)
        name = str(identity or place.rstrip("#") or digest)
        key = f"{place}#{digest}" if place and not identity else name
        try:
            items.append(_item(key, name, document.page_content, given))
        except DocumentError as error:
            items.append(Item(f"text:{key}", "", Added("", name, 0, "skipped", str(error))))
    return items


def _item(key: str, name: str, text: str, given: Citation) -> Item:
    return Item.of(make_text(f"text:{key}", name, text.encode("utf-8", "surrogatepass"), text, given))
