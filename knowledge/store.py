"""The knowledge store: add, list, remove and search documents. Any thread and any process may call it at any time."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from documents.document import READER, UNSAID, Citation, arch_names, from_langchain, named_text, sha256, storable
from documents.document_files import Paths, expanded, find_files
from documents.given_values import is_amount, is_count, is_place, is_text, require
from documents.reader import DocumentReader
from knowledge import postings, tables
from knowledge.dense import DenseIndex
from knowledge.embedder import Embedder, EmbedderError
from knowledge.intake import Added, Item, batches, prepared, put
from knowledge.tables import Document, Hit, Tables
from knowledge.tokens import tokens
from records.errors import DocumentError, KnowledgeError, UsageError
from records.quantity import counted

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangDocument

    from knowledge.retriever import NotesRetriever

NOTES = Path(__file__).parent / "notes"
DEPTH = 60  # places of the ranking by words that are fused
NEAREST = 30  # of that by vectors: the filter needs more for each, and those farther away change nothing
DENSE = 0.2  # weight of vectors beside words, whose is 1; benchmarks/retrieval_quality.py tunes it
Report = Callable[[Added], None]
MOST_QUERY = 20_000  # characters, of which each further word would cost


class KnowledgeStore:
    """Documents in one folder. Nothing is opened before the first call."""

    def __init__(
        self, folder: str | Path, *, embedder: Embedder | None = None, weight: float = DENSE, wait_s: float = 10.0
    ) -> None:
        """Open the store; `wait_s` is how long a write waits for another process that is writing."""
        require(isinstance(folder, Path) or is_place(folder), "a store's folder is a path", folder)
        require(is_amount(weight), "the weight of vectors is a number of at least 0", weight)
        require(is_amount(wait_s), "the wait for another process is a number of seconds of at least 0", wait_s)
        is_usable = is_text(getattr(embedder, "id", None)) and callable(getattr(embedder, "embed", None))
        require(embedder is None or is_usable, "an embedder has an id, which is text, and a method embed", embedder)
        self.folder, self.embedder, self.weight = expanded(Path(folder)), embedder, weight
        self._tables = Tables(self.folder, wait_s)
        self._dense = DenseIndex(self._tables, embedder) if embedder else None
        self._facts: postings.Facts | None = None

    def add(self, paths: Paths, citation: Citation | None = None, report: Report | None = None) -> list[Added]:
        """Read files, folders and patterns, and commit in batches: a call after one that was ended goes on from there.

        What cannot be read is skipped, with the reason in its outcome; DocumentError where a path is missing or all
        were skipped, KnowledgeError where the store is locked by another process, damaged or not writable.
        """
        outcomes: list[Added] = []
        citation, files = _cited(citation), find_files(paths)
        if citation.title and len(files) > 1:
            raise UsageError(f"a title is for one document, and {len(files)} files were named; leave it out")
        with DocumentReader() as reader:
            for batch in batches(prepared(self._tables, files, citation, reader)):
                for outcome in self._put(batch):
                    outcomes.append(outcome)
                    if report:
                        report(outcome)
        return _any_of(outcomes)

    def add_text(self, name: str, text: str, citation: Citation | None = None) -> Added:
        """Add Markdown or plain text under a name; the same name again replaces it."""
        document = named_text(name, text, _cited(citation))
        return self._put([Item.of(document.uri, document)])[0]

    def add_documents(self, documents: Iterable[LangDocument], report: Report | None = None) -> list[str]:
        """Add LangChain documents and return their ids; they come back with these and with all their metadata.

        One with an id replaces the one that had it. `source`, `title`, `licence`, `arch` and `tags` of the metadata are
        cited. An empty one is skipped; DocumentError where all are.
        """
        outcomes = _any_of(self._put([Item.of(uri, document) for uri, document in from_langchain(documents)]))
        for outcome in outcomes:
            if report:
                report(outcome)
        return [outcome.name or outcome.id for outcome in outcomes if outcome.id]

    def get_by_ids(self, ids: Sequence[str]) -> list[LangDocument]:
        """Return the documents that `add_documents` added under these ids, in their order; others are left out."""
        from knowledge.retriever import given_document

        with self._tables.reading() as db:
            stored = {row[2] or row[1]: row for row in tables.named(db, _ids(ids))}
        return [given_document(i, stored[i][3], stored[i][4]) for i in ids if i in stored]

    def delete(self, ids: Sequence[str]) -> int:
        """Take out what `add_documents` added under these ids; how many. An id that there is not is no fault."""
        with self._tables.changing() as db:
            numbers = [row[0] for row in tables.named(db, _ids(ids))]
            db.executemany("DELETE FROM documents WHERE number = ?", [(number,) for number in numbers])
            postings.drop_dead(db)
        return len(numbers)

    def ensure_shipped(self) -> list[Added]:
        """Add or update the shipped notes; nothing happens where they have not changed."""
        files = sorted(NOTES.glob("*.md"))
        state = sha256(b"\0".join(file.name.encode() + file.read_bytes() for file in files), str(READER))
        with self._tables.reading() as db:
            if tables.get_meta(db, "shipped") == state:
                return []
            withheld = {row[0] for row in db.execute("SELECT uri FROM withheld")}
        with DocumentReader() as reader:
            uris_and_files = ((postings.SHIPPED + file.name, file) for file in files)
            read = [reader.read(file, uri=uri) for uri, file in uris_and_files if uri not in withheld]
            return self._put([Item.of(text.uri, text) for text in read], shipped=state)

    def documents(self, mine: bool = False) -> list[Document]:
        """Every document, by title; with `mine`, without the shipped notes."""
        with self._tables.reading() as db:
            return [d for d in tables.list_documents(db) if not (mine and d.uri.startswith(postings.SHIPPED))]

    def remove(self, pattern: str) -> list[Document]:
        """Take documents out: one by its id or a unique beginning of it, else all whose place is this or matches it.

        A folder's name means what is in it. A shipped note stays out, and a pattern means some of them only where it
        begins with `shipped:`. DocumentError where nothing, or more than one id, is meant.
        """
        require(
            isinstance(pattern, str), "a document to remove is named by its id or a pattern, which is text", pattern
        )
        documents = _matching(self.documents(), pattern)
        with self._tables.changing() as db:
            for document in documents:
                db.execute("DELETE FROM documents WHERE id = ?", (document.id,))
                if document.uri.startswith(postings.SHIPPED):
                    db.execute("INSERT OR IGNORE INTO withheld VALUES(?)", (document.uri,))
            postings.drop_dead(db)
        return documents

    def search(self, query: str, k: int = 5, arch: str | None = None) -> list[Hit]:
        """Find the best passages. With `arch`, documents that name other GPUs only are left out."""
        _require_question(query, k, arch)
        query = query[:MOST_QUERY]
        with self._tables.reading() as db:
            db.execute("BEGIN")  # one state of the store for the whole search
            facts = self._current_facts(db)
            allowed = postings.allowed(db, facts, "".join(arch_names(arch or "")[-1:]))
            terms = tokens(query)
            if not allowed.any() or not terms:
                return []
            depth, nearest = (min(max(least, 2 * k), facts.living) for least in (DEPTH, NEAREST))
            query_terms = postings.mended(db, terms, facts)
            ranked = postings.favour(db, query_terms, facts, postings.rank(db, query_terms, facts, allowed, depth))
            if self._dense and self.weight:
                with suppress(EmbedderError):  # words alone, as without an embedder
                    ranked = postings.fuse(ranked, self._dense.nearest(db, query, allowed, nearest), self.weight)
            return tables.hits(db, postings.spread(ranked, facts, k))

    def embed(self, report: Callable[[int], None] | None = None) -> int:
        """Buy the missing vectors; how many. EmbedderError where some do not come; those bought before are kept."""
        return self._dense.fill(report) if self._dense else 0

    def missing(self) -> int:
        """Count the passages without a vector; 0 without an embedder."""
        return self._dense.missing() if self._dense else 0

    def as_retriever(self, k: int = 5, arch: str | None = None) -> NotesRetriever:
        """Make a LangChain retriever of the best k passages, the shipped notes among them."""
        from knowledge.retriever import NotesRetriever

        _require_question("a question", k, arch)
        return NotesRetriever(store=self, k=k, arch=arch)

    def rebuild(self) -> int:
        """Derive passages and postings again from the documents; the number of passages. Vectors are kept."""
        with self._tables.changing() as db:
            count = tables.derive(db, self.folder)
        if self._dense:
            self._dense.place()
        return count

    def check(self) -> list[str]:
        """Report the faults of the store, one sentence each; empty if there are none. Nothing is repaired."""
        try:
            with self._tables.reading() as db:
                (verdict,) = db.execute("PRAGMA quick_check").fetchone()
                for (body,) in db.execute("SELECT body FROM documents"):
                    tables.unpacked(body)
        except KnowledgeError as error:
            return [str(error)]
        if verdict != "ok":
            return [f"{self._tables.path} is damaged ({verdict}); delete it and add the documents again"]
        missing = self.missing()
        faults = [f"{missing} passages have no vector yet; `knowledge rebuild` buys them"] if missing else []
        if self._dense and self._dense.is_lost():
            faults.append(f"the vectors in {self._dense.folder} are not all placed; `knowledge rebuild` does it")
        return faults

    def close(self) -> None:
        """Close Chroma's files; the next search opens them again."""
        if self._dense:
            self._dense.close()

    def _current_facts(self, db: sqlite3.Connection) -> postings.Facts:
        epoch, facts = tables.get_meta(db, "epoch"), self._facts
        if facts is None or facts.epoch != epoch:
            facts = self._facts = postings.read_facts(db, epoch)
        return facts

    def _put(self, items: Sequence[Item], shipped: str = "") -> list[Added]:
        """Store one batch in one commit; `shipped`: these are all the shipped notes, in this state."""
        fresh: dict[int, Sequence[str]] = {}
        with self._tables.changing() as db:
            if shipped:
                tables.set_meta(db, "shipped", shipped)
                deletion = "DELETE FROM documents WHERE uri LIKE ? AND uri NOT IN (SELECT value FROM json_each(?))"
                db.execute(deletion, (f"{postings.SHIPPED}%", json.dumps([item.uri for item in items])))
            outcomes = [put(db, item, fresh) for item in items]
            postings.add(db, fresh)
        return outcomes


def _cited(citation: Citation | None) -> Citation:
    require(citation is None or isinstance(citation, Citation), "what is said of documents is a Citation", citation)
    return citation or UNSAID


def _ids(ids: Sequence[str]) -> Sequence[str]:
    is_list = isinstance(ids, Sequence) and not isinstance(ids, str) and all(isinstance(i, str) for i in ids)
    require(is_list, "ids are a list of texts", ids)
    return ids


def _any_of(outcomes: list[Added]) -> list[Added]:
    """Return the outcomes; DocumentError where every document was skipped."""
    if outcomes and all(outcome.status == "skipped" for outcome in outcomes):
        more = f" (skipped too: {counted(len(outcomes) - 1, 'other file')})" if len(outcomes) > 1 else ""
        raise DocumentError(outcomes[0].why + more)
    return outcomes


def _require_question(query: object, k: object, arch: object) -> None:
    require(is_text(query), "a search needs a query that is text and not empty", query)
    require(is_count(k), "a search needs a number of passages of at least 1", k)
    require(arch is None or isinstance(arch, str), "a search's arch is the name of a GPU", arch)


def _matching(documents: Sequence[Document], pattern: str) -> list[Document]:
    matches = [d for d in documents if pattern and d.id.startswith(pattern)]
    if len(matches) > 1:
        raise DocumentError(f"{len(matches)} documents have an id that starts with {pattern!r}; give more of it")
    if not matches and is_place(pattern):
        location = storable(os.path.realpath(expanded(Path(pattern))))
        shapes, is_shipped = (pattern, location, f"{location}/*"), pattern.startswith(postings.SHIPPED)
        of_kind = [d for d in documents if d.uri.startswith(postings.SHIPPED) == is_shipped]  # `*` means one's own
        matches = [
            d for d in of_kind if f"{d.uri}/".startswith(f"{location}/") or any(fnmatch(d.uri, s) for s in shapes)
        ]
    if not matches:
        raise DocumentError(f"there is no document {pattern!r}; list the documents to see their ids and places")
    return matches
