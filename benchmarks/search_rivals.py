"""Other searches over the same passages: SQLite's FTS5 with its stemmer, and tantivy and bm25s where installed."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence

Search = Callable[[str, int], list[int]]  # places of the best passages


def rivals(texts: Sequence[str]) -> Iterator[tuple[str, Search]]:
    """Yield the name and search of each that is here, built one at a time."""
    yield "FTS5 porter", fts5(texts)
    if importlib.util.find_spec("tantivy"):
        yield "tantivy", tantivy(texts)
    if importlib.util.find_spec("bm25s"):
        yield "bm25s", bm25s(texts)


def fts5(texts: Sequence[str]) -> Search:
    """Search by SQLite's full-text index, any word, by its BM25."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE passages USING fts5(text, content='', tokenize='porter unicode61')")
    db.executemany("INSERT INTO passages(rowid, text) VALUES(?, ?)", enumerate(texts, 1))

    def search(query: str, k: int) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query)))
        rows = db.execute("SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?", (match, k))
        return [row[0] - 1 for row in rows]

    return search


def tantivy(texts: Sequence[str]) -> Search:
    """Search by its English stemmer, any word."""
    module = importlib.import_module("tantivy")
    builder = module.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("place", stored=True)
    index = module.Index(builder.build())
    writer = index.writer(50_000_000, 1)
    for position, text in enumerate(texts):
        writer.add_document(module.Document(text=text, place=position))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(query: str, k: int) -> list[int]:
        words = " ".join(re.findall(r"\w+", query))
        hits = searcher.search(index.parse_query(words, ["text"]), k).hits
        return [searcher.doc(address)["place"][0] for _, address in hits]

    return search


def bm25s(texts: Sequence[str]) -> Search:
    """Search by its own tokeniser with English stop words; it has no stemmer of its own."""
    module = importlib.import_module("bm25s")
    index = module.BM25()
    index.index(module.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False)

    def search(query: str, k: int) -> list[int]:
        tokens = module.tokenize([query], stopwords="en", show_progress=False)
        positions, scores = index.retrieve(tokens, k=min(k, len(texts)), show_progress=False)
        return [int(position) for position, score in zip(positions[0], scores[0], strict=True) if score > 0]

    return search
