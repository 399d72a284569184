"""The dense index: a persistent Chroma collection, treated as a cache of the vectors in SQLite.

Chroma is single-process by design, and a damaged index file ends the process instead of raising. So a collection
lives in a folder of its own that is never changed once sealed: an update works on a copy, and the seal (sizes and
hashes of the index files) is checked before Chroma may open them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from records.codec import dumps
from records.errors import KnowledgeError

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

_BATCH = 2000


class DenseDamaged(Exception):
    """The collection is missing, damaged or not the sealed one; the store builds it again."""


@dataclass(frozen=True)
class Seal:
    """The collection's folder, its number of vectors, and the hashes of its index files."""

    folder: str
    count: int
    files: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> Seal | None:
        """From `dumps` text; None for an empty or unreadable one."""
        try:
            return cls(**json.loads(text)) if text else None
        except (ValueError, TypeError):
            return None


class DenseIndex:
    """Nearest vectors by cosine. One object a store; searches from several threads take turns."""

    def __init__(self, folder: Path, name: str) -> None:
        """`name` is the collection's: embedder, dimension and chunker version."""
        self.folder = folder
        self.name = name
        self._lock = threading.Lock()
        self._client: ClientAPI | None = None
        self._collection: Collection | None = None
        self._open: Seal | None = None

    def nearest(self, seal: Seal, vector: NDArray[np.float32], k: int) -> list[int]:
        """Chunk numbers, nearest first; DenseDamaged where the sealed collection cannot be used."""
        if not seal.count:
            return []
        with self._lock, _chroma_errors():
            self._ensure(seal)
            assert self._collection is not None
            found = self._collection.query(query_embeddings=vector[None, :], n_results=min(k, seal.count), include=[])
            return [int(identity) for identity in found["ids"][0]]

    def build(self, vectors: Mapping[int, bytes]) -> Seal:
        """A new collection from nothing."""
        return self._write(None, vectors, ())

    def update(self, seal: Seal, added: Mapping[int, bytes], removed: Sequence[int]) -> Seal:
        """A copy of the sealed collection with some vectors added and some removed; DenseDamaged if it cannot be."""
        return self._write(seal, added, removed)

    def problems(self, seal: Seal | None, chunks: set[int]) -> list[str]:
        """Differences from the chunk numbers in SQLite, one sentence each; empty if there are none."""
        try:
            if seal is None:
                raise DenseDamaged("it has not been built")
            with self._lock, _chroma_errors():
                self._ensure(seal)
                assert self._collection is not None
                found = {int(identity) for identity in self._collection.get(include=[])["ids"]}
        except DenseDamaged as error:
            return [f"the dense index is unusable ({error}); the next search rebuilds it"]
        return (
            []
            if found == chunks
            else [
                f"the dense index lacks {len(chunks - found)} passages and has "
                f"{len(found - chunks)} too many; the next search rebuilds it"
            ]
        )

    def close(self) -> None:
        """Close Chroma's files."""
        if self._client is not None:
            self._client.close()  # type: ignore[attr-defined]
        self._client = self._collection = self._open = None

    def sweep(self, keep: Sequence[Seal | None]) -> None:
        """Delete collections that no seal names any more."""
        names = {seal.folder for seal in keep if seal}
        for path in self.folder.glob("*"):
            if path.name not in names:
                shutil.rmtree(path, ignore_errors=True)

    def _ensure(self, seal: Seal) -> None:
        if self._open == seal:
            return
        self.close()
        path = self.folder / seal.folder
        if not (path / "chroma.sqlite3").is_file() or _fingerprints(path) != dict(seal.files):
            raise DenseDamaged("its files are not those that were written")
        self._client = _client(path)
        collection = self._client.get_collection(self.name, embedding_function=None)
        if collection.count() != seal.count:
            raise DenseDamaged(f"it holds {collection.count()} vectors instead of {seal.count}")
        self._collection, self._open = collection, seal

    def _write(self, base: Seal | None, added: Mapping[int, bytes], removed: Sequence[int]) -> Seal:
        import numpy as np

        path = self.folder / secrets.token_hex(6)
        with self._lock, _chroma_errors():
            if base:
                self._ensure(base)
                self.close()
                shutil.copytree(self.folder / base.folder, path)
            client = _client(path)
            try:
                collection = client.get_or_create_collection(
                    self.name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
                )
                for gone in _batches(sorted(removed)):
                    collection.delete(ids=[str(number) for number in gone])
                for part in _batches(sorted(added)):
                    rows = np.stack([np.frombuffer(added[number], dtype=np.float32) for number in part])
                    collection.upsert(ids=[str(number) for number in part], embeddings=rows)
                count = collection.count()
            finally:
                client.close()  # type: ignore[attr-defined]
            return Seal(path.name, count, _fingerprints(path))


def seal_text(seal: Seal) -> str:
    """The text that `Seal.parse` reads."""
    return dumps(seal)


def _client(path: Path) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    yield from (numbers[start : start + _BATCH] for start in range(0, len(numbers), _BATCH))


def _fingerprints(path: Path) -> dict[str, str]:
    """Hashes of the index files that Chroma loads without looking. It rewrites the others whenever it opens them."""
    found = {}
    for inside in sorted(path.glob("*/index_metadata.pickle")):
        for file in sorted(inside.parent.iterdir()):
            found[f"{inside.parent.name}/{file.name}"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


@contextmanager
def _chroma_errors() -> Iterator[None]:
    try:
        from chromadb.errors import ChromaError
    except ImportError as error:
        raise KnowledgeError("the package chromadb is missing; run ./kernel-scientist doctor to set it up") from error
    try:
        yield
    except (ChromaError, OSError, ValueError, RuntimeError, AttributeError) as error:
        # AttributeError is what Chroma's own clean-up raises after it failed to open a folder.
        raise DenseDamaged(str(error).splitlines()[0] if str(error) else type(error).__name__) from error
