"""The notes as a LangChain retriever, for chains and graphs of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as Passage
from langchain_core.retrievers import BaseRetriever


class NotesRetriever(BaseRetriever):
    """Passages with title, section, source, licence and score as metadata, the best first."""

    search: Callable[[str], Sequence[Any]]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Passage]:
        return [
            Passage(
                page_content=hit.text,
                metadata={
                    "document": hit.document,
                    "title": hit.title,
                    "section": hit.section,
                    "source": hit.source,
                    "licence": hit.licence,
                    "score": hit.score,
                },
            )
            for hit in self.search(query)
        ]
