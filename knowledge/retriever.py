"""The notes as a LangChain retriever, for chains and graphs of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as Passage
from langchain_core.retrievers import BaseRetriever


class NotesRetriever(BaseRetriever):
    """Passages with their citation as metadata, the best first; the id of each is what it is cited by."""

    search: Callable[[str], Sequence[Any]]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Passage]:
        rows = [dict(vars(hit)) for hit in self.search(query)]
        return [Passage(about.pop("text"), id=about["passage"], metadata=about) for about in rows]
