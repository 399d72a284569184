"""Keeps what is derived from documents (passages, postings, vectors, the collection) in step with them."""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge import tables
from knowledge.chunks import CHUNKER, cut
from knowledge.dense import DenseDamaged, DenseIndex, Seal, seal_text
from knowledge.embedder import Embedder
from knowledge.tokens import TOKENISER
from records.errors import KnowledgeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OVERFETCH = 4  # Chroma's own filter scans every vector, so ask for more and filter here
_EMBED_BATCH = 256


class Held(KnowledgeError):
    """Another process, or another store object of this one, is writing."""


@dataclass(frozen=True)
class Snapshot:
    """The data that every search needs in memory, for one state of the store."""

    epoch: str
    lengths: dict[int, int]  # tokens by chunk number
    document_of: dict[int, int]
    arch_of: dict[int, frozenset[str]]  # by document number; empty: any GPU
    by_arch: dict[str, frozenset[int]] = field(default_factory=dict)  # filled as asked for

    def chunks_for(self, arch: str | None) -> frozenset[int]:
        """Chunks of documents that name this GPU or none."""
        wanted = (arch or "").strip().lower()
        if wanted not in self.by_arch:
            fitting = {d for d, names in self.arch_of.items() if not wanted or not names or wanted in names}
            self.by_arch[wanted] = frozenset(c for c, document in self.document_of.items() if document in fitting)
        return self.by_arch[wanted]


class Index:
    """The derived half of a store, in one folder."""

    def __init__(self, folder: Path, embedder: Embedder, wait_s: float) -> None:
        """`wait_s`: how long a write waits for another one."""
        self.folder = folder
        self.path = folder / "knowledge.sqlite"
        self.embedder = embedder
        self.wait_s = wait_s
        name = f"knowledge-{embedder.id}-{embedder.dimension}-c{CHUNKER}"
        self.dense = DenseIndex(folder / "chroma", name)
        self._vectors_of = f"{embedder.id}-{embedder.dimension}"
        self._derived = f"{name}-t{TOKENISER}"
        self._starting = threading.Lock()
        self._started = False
        self._snapshot: Snapshot | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to a store that exists and is derived by this version."""
        self._start()
        with tables.opened(self.path) as db:
            yield db

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """As the one writer: what the block changes is committed whole, then the collection follows."""
        self._start()
        with self._locked(self.wait_s):
            with tables.opened(self.path) as db:
                before, seal = _numbers(db), Seal.parse(tables.get_meta(db, "dense"))
                changes = db.total_changes
                yield db
                after = _numbers(db)
                if db.total_changes != changes:
                    self._embed(db)
                    tables.set_meta(db, "epoch", secrets.token_hex(8))
                if before != after:
                    tables.set_meta(db, "dense", "")
            if before != after:
                self._follow(seal, after - before, before - after)

    def snapshot(self, db: sqlite3.Connection) -> Snapshot:
        """The present state, read again only where another write has happened."""
        epoch = tables.get_meta(db, "epoch")
        if self._snapshot is None or self._snapshot.epoch != epoch:
            rows = db.execute("SELECT number, length, document FROM chunks").fetchall()
            arches = db.execute("SELECT number, arch FROM documents").fetchall()
            self._snapshot = Snapshot(
                epoch,
                {row[0]: row[1] for row in rows},
                {row[0]: row[2] for row in rows},
                {number: frozenset(arch.split()) for number, arch in arches},
            )
        return self._snapshot

    def nearest(
        self, db: sqlite3.Connection, vector: NDArray[np.float32], allowed: frozenset[int], k: int
    ) -> list[int]:
        """Allowed chunks by cosine, nearest first: from the collection, else (too few there, or locked) exactly."""
        everything = len(self.snapshot(db).lengths)
        wanted = min(k, len(allowed))
        reach = k if len(allowed) == everything else k * _OVERFETCH
        found = [chunk for chunk in self._from_collection(db, vector, reach) if chunk in allowed][:k]
        return found if len(found) >= wanted else self._exactly(db, vector, allowed, k)

    def rebuild(self) -> int:
        """Derive everything again from the stored documents; the result is the number of passages."""
        self._start()
        with self._locked(self.wait_s):
            return self._derive()

    def problems(self) -> list[str]:
        """Faults of the store, one sentence each; nothing is repaired."""
        try:
            with self.reading() as db:
                report = str(db.execute("PRAGMA quick_check").fetchone()[0])
                seal, chunks = Seal.parse(tables.get_meta(db, "dense")), _numbers(db)
        except KnowledgeError as error:
            return [str(error)]
        damage = [] if report == "ok" else [f"{self.path} is damaged ({report}); delete it and add the documents again"]
        return damage + (self.dense.problems(seal, chunks) if chunks else [])

    def _start(self) -> None:
        with self._starting:
            if self._started and self.path.exists():
                return
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise KnowledgeError(f"the knowledge store {self.folder} cannot be made: {error.strerror}") from error
            tables.create(self.path)
            with tables.opened(self.path) as db:
                derived = tables.get_meta(db, "derived")
            if derived != self._derived:
                with self._locked(self.wait_s):
                    self._derive()
            self._started = True

    def _locked(self, wait_s: float) -> AbstractContextManager[None]:
        return exclusive(self.folder / "lock", wait_s)

    def _derive(self) -> int:
        with tables.opened(self.path) as db:
            db.execute("DELETE FROM chunks")
            for number, identity, title, body in db.execute("SELECT number, id, title, body FROM documents").fetchall():
                tables.put_chunks(db, number, title, cut(identity, title, body))
            self._embed(db)
            tables.set_meta(db, "derived", self._derived)
            tables.set_meta(db, "epoch", secrets.token_hex(8))
            tables.set_meta(db, "dense", "")
            numbers = _numbers(db)
        self._follow(None, numbers, set())
        return len(numbers)

    def _embed(self, db: sqlite3.Connection) -> None:
        texts = tables.texts_without_vector(db, self._vectors_of)
        for start in range(0, len(texts), _EMBED_BATCH):
            part = texts[start : start + _EMBED_BATCH]
            rows = self.embedder.embed([text for _, text in part])
            found = {number: row.tobytes() for (number, _), row in zip(part, rows, strict=True)}
            tables.put_vectors(db, self._vectors_of, found)

    def _follow(self, old: Seal | None, added: set[int], removed: set[int]) -> None:
        """Make the collection hold exactly the stored vectors, by the difference if the old one is sound."""
        with tables.opened(self.path) as db:
            count = len(_numbers(db))
            new: Seal | None
            try:
                if old is None or not count:
                    raise DenseDamaged("there is none to start from")
                new = self.dense.update(old, tables.vectors(db, added), sorted(removed))
                if new.count != count:
                    raise DenseDamaged("it did not hold what was stored")
            except DenseDamaged:
                new = self._built(tables.vectors(db)) if count else None
            tables.set_meta(db, "dense", seal_text(new) if new else "")
        self.dense.sweep((new, old))

    def _built(self, vectors: dict[int, bytes]) -> Seal:
        try:
            return self.dense.build(vectors)
        except DenseDamaged as error:
            raise KnowledgeError(f"the dense index in {self.dense.folder} cannot be written: {error}") from error

    def _from_collection(self, db: sqlite3.Connection, vector: NDArray[np.float32], k: int) -> list[int]:
        for _ in range(2):
            seal = Seal.parse(tables.get_meta(db, "dense"))
            try:
                if seal is not None:
                    return self.dense.nearest(seal, vector, k)
            except DenseDamaged:
                pass
            try:
                with self._locked(0.0):
                    self._follow(None, set(), set())
            except Held:
                return []
        return []

    def _exactly(
        self, db: sqlite3.Connection, vector: NDArray[np.float32], allowed: frozenset[int], k: int
    ) -> list[int]:
        import numpy as np

        stored = tables.vectors(db, sorted(allowed) if len(allowed) < 2000 else None)
        numbers = [number for number in stored if number in allowed]
        if not numbers:
            return []
        rows = np.stack([np.frombuffer(stored[number], dtype=np.float32) for number in numbers])
        order = np.argsort(-(rows @ vector), kind="stable")[:k]
        return [numbers[int(i)] for i in order]


def _numbers(db: sqlite3.Connection) -> set[int]:
    return {row[0] for row in db.execute("SELECT number FROM chunks")}


@contextmanager
def exclusive(path: Path, wait_s: float) -> Iterator[None]:
    """Hold an advisory lock, which the kernel drops when the holder dies, for the length of the block.

    Raises:
        Held: another holder did not let go within `wait_s` seconds; it is named.
        KnowledgeError: the file is not writable.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise KnowledgeError(f"the knowledge store {path.parent} is not writable: {error.strerror}") from error
    try:
        _take(handle, path, time.monotonic() + wait_s)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}".encode(), 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _take(handle: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 100, 0).decode("ascii", "replace") or "another process"
                raise Held(
                    f"the knowledge store {path.parent} is locked: {holder} is writing to it; try again when it is done"
                ) from error
            time.sleep(0.05)
