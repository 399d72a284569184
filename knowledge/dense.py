"""Nearest passages by the vectors of one embedder: SQLite has the vectors, a Chroma collection of its own finds them.

Vectors are bought once: SQLite keeps each under its embedder and the passage's text, batch by batch. Chroma is
single-process by design and a half-written index ends the process that opens it, so its folder is opened and written
under SQLite's write lock, and a file in it says which state of the store it holds. Where there is none, words decide
until who buys or rebuilds, or a search where that takes seconds, has made the collection again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowledge.embedder import Embedder, EmbedderError, checked
from knowledge.postings import Ranked
from knowledge.tables import Tables, get_meta
from records.errors import KnowledgeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from knowledge.postings import Mask

BATCH = 64  # texts a request: what is lost when one fails, and a commit each
_OVERFETCH = 4  # Chroma's own filter scans every vector, so ask for up to so many times more and filter here
_PLACES = 2000  # vectors handed to Chroma at once
AT_ONCE = 10_000  # passages up to which a search makes a lost collection again, which takes some 10 s
REST_S = 60.0  # for which an embedder that failed is not asked about queries again

# Passages with a vector, without those of zeros: they were paid for and kept, but point nowhere. A cross join keeps the
# order: SQLite would else read all vectors to find those of a few passages.
POINTING = (
    "FROM chunks c CROSS JOIN vectors v ON v.embedder = ? AND v.id = c.id"
    " WHERE c.length > 0 AND v.vector <> ZEROBLOB(LENGTH(v.vector))"
)
_BOUGHT = "SELECT LENGTH(vector) FROM vectors WHERE embedder = ? LIMIT 1"
_LACKING = "FROM chunks c LEFT JOIN vectors v ON v.embedder = ? AND v.id = c.id WHERE v.id IS NULL AND c.length > 0"
_TEXTS = (
    "SELECT c.number, c.id, (SELECT d.title FROM documents d WHERE d.number = c.document) || char(10) || c.section"
    f" || char(10) || c.text {_LACKING} AND c.number > ? ORDER BY c.number LIMIT ?"
)


class DenseIndex:
    """The vectors of one embedder. Searches from several threads take turns."""

    def __init__(self, tables: Tables, embedder: Embedder) -> None:
        """Nothing is opened or embedded yet."""
        self.folder = tables.folder / "chroma" / hashlib.sha256(embedder.id.encode()).hexdigest()[:16]
        self._tables, self._embedder = tables, embedder
        self._mark = self.folder / "epoch"  # what the store's was when the collection was placed
        self._lock = threading.RLock()
        self._client: Any = None
        self._collection: Any = None
        self._opened = ""  # the mark of what is open
        self._rests_until = 0.0
        self._vector: Callable[[str], NDArray[np.float32]] = lru_cache(256)(lambda query: checked(embedder, [query])[0])

    def missing(self) -> int:
        """Count the passages without a vector."""
        with self._tables.reading() as db:
            return int(db.execute(f"SELECT COUNT(DISTINCT c.id) {_LACKING}", (self._embedder.id,)).fetchone()[0])

    def fill(self, report: Callable[[int], None] | None = None) -> int:
        """Embed the passages that lack a vector, each batch committed, and place them; the number embedded."""
        count = last = 0
        while rows := self._lacking(last):
            last, texts = rows[-1][0], {identity: text for _, identity, text in rows}
            vectors = checked(self._embedder, list(texts.values()))
            with self._tables.changing() as db:
                self._require_dimension(db, vectors.shape[1])
                packed = [(self._embedder.id, i, v.tobytes()) for i, v in zip(texts, vectors, strict=True)]
                db.executemany("INSERT OR IGNORE INTO vectors VALUES(?, ?, ?)", packed)
            count += len(texts)
            if report:
                report(count)
        self._rests_until = 0.0
        self.place()
        return count

    def _lacking(self, last: int) -> list[tuple[int, str, str]]:
        with self._tables.reading() as db:
            return db.execute(_TEXTS, (self._embedder.id, last, BATCH)).fetchall()

    def place(self, wait_s: float | None = None) -> None:
        """Make the collection hold the vectors of the stored passages; from nothing where its writer was killed."""
        with self._lock, self._tables.changing(wait_s) as db:
            epoch, placed = get_meta(db, "epoch"), self._placed()
            if placed == epoch:
                return
            self.close()
            if not placed:
                shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._mark.unlink(missing_ok=True)
            try:
                self._write(db)
            except _faults() as error:
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                why = f"the vectors in {self.folder} cannot be used ({reason}); run `knowledge rebuild`"
                raise KnowledgeError(why) from error
            self._mark.write_text(epoch)

    def nearest(self, db: sqlite3.Connection, query: str, allowed: Mask, k: int) -> list[Ranked]:
        """Find allowed passages with their cosines, nearest first; EmbedderError where the query gets no vector."""
        vector = self._embed_query(query)
        if not (self._require_dimension(db, len(vector)) and vector.any()):  # one of zeros is near to nothing
            return []
        share = max(allowed.sum() / len(allowed), 1 / _OVERFETCH)
        near = self._from_collection(vector, int(k * min(_OVERFETCH, 1.5 / share)), len(allowed) <= AT_ONCE)
        return [(n, cosine) for n, cosine in near if n < len(allowed) and allowed[n]][:k]

    def close(self) -> None:
        """Close Chroma's files."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = self._collection = None

    def is_lost(self) -> bool:
        """Tell whether vectors were bought and no collection holds them."""
        with self._tables.reading() as db:
            return bool(db.execute(_BOUGHT, (self._embedder.id,)).fetchone()) and not self._placed()

    def _placed(self) -> str:
        """Return the epoch whose passages the collection holds; empty where there is none, or it is not whole."""
        with suppress(OSError):
            return self._mark.read_text(errors="replace")
        return ""

    def _embed_query(self, query: str) -> NDArray[np.float32]:
        """Get the query's vector; a search does not wait again for an embedder that has just failed."""
        if time.monotonic() < self._rests_until:
            raise EmbedderError(f"the embedder {self._embedder.id} failed a moment ago")
        try:
            return self._vector(query)
        except EmbedderError:
            self._rests_until = time.monotonic() + REST_S
            raise

    def _require_dimension(self, db: sqlite3.Connection, dimension: int) -> bool:
        """Tell whether there are vectors yet; EmbedderError where they are of another length."""
        row = db.execute(_BOUGHT, (self._embedder.id,)).fetchone()
        if row and row[0] != 4 * dimension:
            raise EmbedderError(f"the embedder {self._embedder.id} now gives {dimension} numbers, not {row[0] // 4}")
        return row is not None

    def _from_collection(self, vector: NDArray[np.float32], k: int, may_place: bool) -> list[Ranked]:
        """Nothing where another process is writing it, or it is lost or cannot be read."""
        with self._lock:
            try:
                if not self._placed():
                    if not may_place:
                        return []
                    self.place(wait_s=0.0)
                if self._collection is None or self._opened != self._placed():
                    with self._tables.changing(wait_s=0.0):
                        self.close()
                        self._opened = self._placed()
                        self._client = _client(self.folder)
                        self._collection = self._client.get_collection("passages", embedding_function=None)
                answer = self._collection.query(query_embeddings=vector[None, :], n_results=k, include=["distances"])
            except _faults():
                self.close()
                return []
        return [(int(name), 1.0 - float(d)) for name, d in zip(answer["ids"][0], answer["distances"][0], strict=True)]

    def _write(self, db: sqlite3.Connection) -> None:
        import numpy as np

        expected = {number for (number,) in db.execute(f"SELECT c.number {POINTING}", (self._embedder.id,))}
        with closing(_client(self.folder)) as client:
            space = {"hnsw": {"space": "cosine"}}
            collection = client.get_or_create_collection("passages", embedding_function=None, configuration=space)
            present = {int(name) for name in collection.get(include=[])["ids"]}
            for part in _parts(present - expected):
                collection.delete(ids=[str(number) for number in part])
            for part in _parts(expected - present):
                chosen = f"SELECT c.number, v.vector {POINTING} AND c.number IN (SELECT value FROM json_each(?))"
                names, vectors = zip(*db.execute(chosen, (self._embedder.id, json.dumps(part))), strict=True)
                rows = np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(names), -1)
                collection.add(ids=list(map(str, names)), embeddings=rows)


def _parts(numbers: set[int]) -> list[list[int]]:
    ordered = sorted(numbers)
    return [ordered[start : start + _PLACES] for start in range(0, len(ordered), _PLACES)]


def _client(path: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))


def _faults() -> tuple[type[Exception], ...]:
    """List the errors of store and Chroma, whose clean-up raises an AttributeError after it failed to open a folder."""
    from chromadb.errors import ChromaError

    return KnowledgeError, ChromaError, OSError, ValueError, RuntimeError, AttributeError
