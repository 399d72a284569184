"""LangChain's documents keep id and metadata through the store, its vector store and its retriever; Chroma is real."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding

from knowledge.postings import SHIPPED
from knowledge.store import NOTES, KnowledgeStore
from knowledge.vector_store import NotesVectorStore
from records.errors import UsageError

PAGES = [
    Document(
        "frobnicate rows", id="frob-1", metadata={"source": "wiki", "team": "kernels", "tags": ["a", "b"], "n": 3}
    ),
    Document("quagga columns", metadata={"id": 2}),
]


def vectors(folder: Path) -> NotesVectorStore:
    return NotesVectorStore.from_texts([], DeterministicFakeEmbedding(size=6), folder=folder)


def test_documents_come_back_as_they_went_in_and_words_or_vectors_find_them(tmp_path: Path) -> None:
    store = vectors(tmp_path)
    ids = store.add_documents(PAGES)
    assert ids[0] == "frob-1" and PAGES[1].id is None
    expected = [PAGES[0], PAGES[1].model_copy(update={"id": ids[1]})]
    assert store.get_by_ids([ids[1], "none", ids[0]]) == expected[::-1]
    assert store.similarity_search("frobnicate", k=2) == expected  # the second by its vector alone
    assert asyncio.run(store.asimilarity_search("quagga", k=1)) == expected[1:]
    [best] = store.store.as_retriever(k=1).invoke("frobnicate")
    assert best.id == "frob-1" and best.metadata.items() >= PAGES[0].metadata.items() and best.metadata["licence"]
    assert len(store.store.as_retriever(k=1).invoke("bank conflict", k=3)) == 3


def test_ids_that_are_given_again_update_and_those_deleted_are_gone(tmp_path: Path) -> None:
    store = vectors(tmp_path)
    store.add_texts(["zebra one", "zebra two"], [{"n": 1}, {"n": 2}], ids=["1", "2"])
    assert store.add_texts(["zebra three"], [{"n": 3}], ids=["1"]) == ["1"]
    assert {d.id: (d.page_content, d.metadata["n"]) for d in store.similarity_search("zebra")} == {
        "1": ("zebra three", 3),
        "2": ("zebra two", 2),
    }
    store.add_texts(["zebra two"], [{"n": 9}], ids=["2"])  # the same text with other metadata
    assert store.get_by_ids(["2"])[0].metadata == {"n": 9}
    assert store.delete(["1", "none"]) and [d.id for d in store.similarity_search("zebra")] == ["2"]
    with pytest.raises(UsageError, match="as many ids"):
        store.add_texts(["a", "b"], ids=["1"])


def test_equal_texts_under_two_ids_are_two_documents(tmp_path: Path) -> None:
    store = vectors(tmp_path)
    store.add_texts(["zebra", "zebra"], [{"n": 1}, {"n": 2}], ids=["1", "2"])
    assert {d.metadata["n"] for d in store.similarity_search("zebra")} == {1, 2}


@pytest.mark.parametrize("form", ["document", "text", "file"])
def test_a_note_of_the_user_comes_before_a_shipped_one_of_equal_words(tmp_path: Path, form: str) -> None:
    store = KnowledgeStore(tmp_path / "store")
    store.ensure_shipped()
    query = "LDS bank conflicts padding swizzle"
    shipped = store.search(query, k=1)[0]
    uri = next(d.uri for d in store.documents() if d.id == shipped.document)
    text = (NOTES / uri.removeprefix(SHIPPED)).read_text()
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("source:"))
    if form == "document":
        store.add_documents([Document(body, id="mine")])
    elif form == "text":
        store.add_text("mine", body)
    else:
        (tmp_path / "mine.md").write_text(body)
        store.add(tmp_path / "mine.md")
    own = {document.id for document in store.documents(mine=True)}
    assert store.search(query, k=1)[0].document in own
