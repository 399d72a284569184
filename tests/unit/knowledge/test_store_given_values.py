"""What a stranger's program may hand over by mistake: one sentence that says what is wanted, and nothing stored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from documents.document import Citation
from knowledge.store import MOST_QUERY, KnowledgeStore
from records.errors import UsageError

ODD: tuple[Any, ...] = (None, 5, math.nan, b"x", [], ["a"], {"a": 1}, object(), np.array(["x"]), True)


def refused(said: str, call: Any, *values: Any, **named: Any) -> None:
    with pytest.raises(UsageError, match=said) as error:
        call(*values, **named)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


def test_wrong_questions_are_refused(store: KnowledgeStore) -> None:
    for odd in (*ODD, "", " \n"):
        refused("a query that is text and not empty", store.search, odd)
        refused("a query that is text and not empty", store.as_retriever().invoke, odd)
    for odd in (None, 0, -1, 2.5, math.nan, "5", True, []):
        refused("a number of passages of at least 1", store.search, "zebra", odd)
        refused("a number of passages of at least 1", store.as_retriever, odd)
    for odd in ODD[1:]:
        refused("arch is the name of a GPU", store.search, "zebra", 1, odd)
        refused("arch is the name of a GPU", store.as_retriever, 1, odd)


def test_wrong_documents_are_refused(store: KnowledgeStore) -> None:
    for odd in ODD:
        refused("name is text", store.add_text, odd, "words")
        refused("text of the document n is a str", store.add_text, "n", odd)
        if not isinstance(odd, list | dict | np.ndarray):  # names of files that may be there
            refused("named by its path", store.add, odd)
        refused("named by its id or a pattern", store.remove, odd)
    for odd in ("", " ", "\0", "x" * 10**6):
        refused("name is text of at most", store.add_text, odd, "words")
    for odd in ODD[1:]:
        refused("is a Citation", store.add_text, "n", "words", odd)
        refused("is a Citation", store.add, "n", odd)
        refused("a citation's tags is text", Citation, tags=odd)
    for odd in (None, 5, "abc", [None], ["a"], [("a", "b")]):
        refused("LangChain", store.add_documents, odd)
    assert store.documents(mine=True) == []


def test_wrong_stores_are_refused(tmp_path: Path) -> None:
    for odd in (*ODD, "", "\0"):
        refused("a store's folder is a path", KnowledgeStore, odd)
    refused("there is no user's folder", KnowledgeStore, "~nobody-of-this-name/store")
    for odd in (math.nan, math.inf, -1, "1", None, True):
        refused("weight of vectors", KnowledgeStore, tmp_path, weight=odd)
        refused("a number of seconds", KnowledgeStore, tmp_path, wait_s=odd)
    for odd in ("model", 5, object()):
        refused("an embedder has an id", KnowledgeStore, tmp_path, embedder=odd)
    assert not list(tmp_path.iterdir())


def test_what_a_loader_leaves_in_metadata_is_text_or_nothing(store: KnowledgeStore) -> None:
    about = {"source": math.nan, "title": None, "tags": 5, "arch": ["gfx942", "gfx90a"], 1: 2}
    store.add_documents([Document("zebra", metadata=about)])
    (found,) = store.documents(mine=True)
    assert (found.tags, found.arch) == (("5",), "gfx942 gfx90a") and "nan" not in found.title + found.source


def test_of_a_huge_question_the_beginning_counts(store: KnowledgeStore) -> None:
    store.add_text("a", "zebra")
    assert store.search("zebra " + "x" * 10**6, k=10**30)[0].title == "a"
    assert store.search("." * MOST_QUERY + " zebra") == []
