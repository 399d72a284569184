"""The notes as a LangChain retriever, for chains and graphs of one's own, and passages as LangChain's documents."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as Passage
from langchain_core.retrievers import BaseRetriever


class NotesRetriever(BaseRetriever):
    """Passages, the best first, each with its citation as metadata.

    A document that a program added keeps its id and its own metadata beside that; the id of others is the passage's.
    """

    store: Any  # a KnowledgeStore
    k: int = 5
    arch: str | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Passage]:
        self.store.ensure_shipped()
        return [cited_passage(hit) for hit in self.store.search(query, self.k if k is None else k, self.arch)]


def cited_passage(hit: Any) -> Passage:
    """Make a document of a passage that was found, with its citation."""
    about = dict(vars(hit))
    text, name, given = about.pop("text"), about.pop("name"), about.pop("about")
    identity = (name or about["document"]) if given else about["passage"]
    return Passage(text, id=identity, metadata={**about, **json.loads(given or "{}")})


def given_passage(hit: Any) -> Passage:
    """Make a document of a passage that was found, as a program gave it; of others the citation is the metadata."""
    return given_document(hit.name or hit.document, hit.about, hit.text) if hit.about else cited_passage(hit)


def given_document(identity: str, about: str, text: str) -> Passage:
    """Make a document with the id and the metadata that a program gave with it."""
    return Passage(text, id=identity, metadata=json.loads(about))
