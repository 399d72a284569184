"""The knowledge store: add, list, remove and search documents. SQLite has the data, Chroma is a cache."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge import tables
from knowledge.chunks import cut
from knowledge.documents import Added, Document, Text, find_files, read_text
from knowledge.embedder import Embedder, HashingEmbedder
from knowledge.index import Index
from knowledge.scoring import fuse, rank, spread
from knowledge.tokens import tokens
from records.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from knowledge.retriever import NotesRetriever

NOTES = Path(__file__).parent / "notes"
DEPTH = 60  # places of each ranking that are fused
LEXICAL, DENSE = 1.0, 0.5  # weights of the two rankings: instruction names make words worth more than vectors
_SHIPPED = "shipped:"


@dataclass(frozen=True)
class Hit:
    """One passage. `score` is the fused rank score: it orders hits of one search and means nothing across searches."""

    score: float
    document: str  # document id
    title: str
    section: str  # heading path, "A > B"
    text: str
    source: str
    licence: str


class KnowledgeStore:
    """Documents in one folder. Nothing is opened before the first call; every method may be called from any thread."""

    def __init__(self, folder: Path, *, embedder: Embedder | None = None, wait_s: float = 10.0) -> None:
        """`wait_s`: how long a write waits for another process that is writing before it gives up."""
        self.folder = folder
        self.embedder = embedder or HashingEmbedder()
        self._index = Index(folder, self.embedder, wait_s)

    def add(self, paths: Iterable[Path]) -> list[Added]:
        """Read files, and folders recursively; all of them or, where one cannot be read, none.

        Raises:
            DocumentError: a path is missing, not text, empty or too large.
            KnowledgeError: the store is locked by another process, damaged or not writable.
        """
        return self._put_all([read_text(path) for path in find_files(paths)])

    def ensure_shipped(self) -> list[Added]:
        """Add or update the shipped notes; nothing happens where they have not changed."""
        files = sorted(NOTES.glob("*.md"))
        parts = [part for file in files for part in (file.name.encode(), file.read_bytes())]
        state = hashlib.sha256(b"\0".join(parts)).hexdigest()
        with self._index.reading() as db:
            if tables.get_meta(db, "shipped") == state:
                return []
            withheld = {row[0] for row in db.execute("SELECT uri FROM withheld")}
        named = [(file, _SHIPPED + file.name) for file in files]
        return self._put_all([read_text(file, uri) for file, uri in named if uri not in withheld], shipped=state)

    def documents(self) -> list[Document]:
        """Every document, by title."""
        with self._index.reading() as db:
            return tables.list_documents(db)

    def remove(self, identity: str) -> Document:
        """Take one document out, named by its id or a unique beginning of it; a shipped note stays out.

        Raises:
            DocumentError: no document, or more than one, has that id.
        """
        found = [d for d in self.documents() if identity and d.id.startswith(identity)]
        if not found:
            raise DocumentError(f"there is no document {identity!r}; list the documents to see their ids")
        if len(found) > 1:
            raise DocumentError(f"{len(found)} documents have an id that starts with {identity!r}; give more of it")
        with self._index.changing() as db:
            db.execute("DELETE FROM documents WHERE id = ?", (found[0].id,))
            if found[0].uri.startswith(_SHIPPED):
                db.execute("INSERT OR IGNORE INTO withheld VALUES(?)", (found[0].uri,))
        return found[0]

    def search(self, query: str, k: int = 5, arch: str | None = None) -> list[Hit]:
        """The best passages. With `arch`, documents that name other GPUs only are left out.

        Raises:
            UsageError: the query is empty or k is not positive.
        """
        if not query.strip() or k < 1:
            raise UsageError("a search needs a query that is not empty and a number of passages of at least 1")
        with self._index.reading() as db:
            state = self._index.snapshot(db)
            allowed = state.chunks_for(arch)
            terms = tokens(query)
            if not allowed or not terms:
                return []

            def postings(term: str) -> list[tuple[int, int]]:
                return db.execute("SELECT chunk, count FROM postings WHERE term = ?", (term,)).fetchall()

            depth = max(DEPTH, k)
            lexical = [n for n, _ in rank(terms, postings, state.lengths, allowed.__contains__)[:depth]]
            dense = self._index.nearest(db, self.embedder.embed([query])[0], allowed, depth)
            ranked = fuse([(LEXICAL, lexical), (DENSE, dense)])
            return [_hit(db, chunk, score) for chunk, score in spread(ranked, state.document_of, k)]

    def as_retriever(self, k: int = 5, arch: str | None = None) -> NotesRetriever:
        """A LangChain retriever of the best k passages, the shipped notes among them."""
        from knowledge.retriever import NotesRetriever

        def search(query: str) -> list[Hit]:
            self.ensure_shipped()
            return self.search(query, k, arch)

        return NotesRetriever(search=search)

    def rebuild(self) -> int:
        """Derive passages, postings, vectors and the collection again from the documents; the number of passages."""
        return self._index.rebuild()

    def check(self) -> list[str]:
        """Report the faults of the store, one sentence each; empty if there are none. Nothing is repaired."""
        return self._index.problems()

    def close(self) -> None:
        """Close Chroma's files; the next search opens them again."""
        self._index.dense.close()

    def _put_all(self, texts: Sequence[Text], shipped: str = "") -> list[Added]:
        with self._index.changing() as db:
            if shipped:
                tables.set_meta(db, "shipped", shipped)
                keep = {text.uri for text in texts}
                for number, uri in db.execute("SELECT number, uri FROM documents").fetchall():
                    if uri.startswith(_SHIPPED) and uri not in keep:
                        db.execute("DELETE FROM documents WHERE number = ?", (number,))
            return [_put(db, text) for text in texts]


def _put(db: sqlite3.Connection, text: Text) -> Added:
    """Store one file: by its place if that is known, else by its content, so that a copy is not stored twice."""
    query = "SELECT id, title, sha256, (SELECT COUNT(*) FROM chunks c WHERE c.document = d.number) FROM documents d"
    known = db.execute(f"{query} WHERE uri = ?", (text.uri,)).fetchone()
    same = known or db.execute(f"{query} WHERE sha256 = ?", (text.sha256,)).fetchone()
    if same and same[2] == text.sha256:
        return Added(same[0], same[1], same[3], "unchanged")
    identity = known[0] if known else hashlib.sha256(text.uri.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    number = tables.put_document(db, identity, text, datetime.now(UTC).isoformat(timespec="seconds"))
    chunks = cut(identity, text.title, text.body)
    tables.put_chunks(db, number, text.title, chunks)
    return Added(identity, text.title, len(chunks), "replaced" if known else "added")


def _hit(db: sqlite3.Connection, chunk: int, score: float) -> Hit:
    found = tables.passage(db, chunk)
    return Hit(round(score, 6), found.document, found.title, found.section, found.text, found.source, found.licence)
