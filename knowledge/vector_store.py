"""A knowledge store as a LangChain vector store, and LangChain's embeddings as the store's embedder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from documents.given_values import require
from knowledge.embedder import EmbedderError
from knowledge.retriever import given_passage
from knowledge.store import KnowledgeStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass
class LangChainEmbedder:
    """LangChain's embeddings; `id` names model and place, for it keys every stored vector."""

    model: Embeddings
    id: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape [len(texts), dimension]; EmbedderError where there are none."""
        import numpy as np

        try:
            return np.array(self.model.embed_documents(list(texts)), dtype=np.float32)
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise EmbedderError(f"the embedder {self.id} gave no vectors ({type(error).__name__})") from error


class NotesVectorStore(VectorStore):
    """Documents in, with ids and metadata, and the same out, found by words and, with an embedder, by vectors.

    The shipped notes are among them once something asked the store for them.
    """

    def __init__(self, store: KnowledgeStore) -> None:
        """Nothing is opened yet."""
        self.store = store

    @property
    def embeddings(self) -> Embeddings | None:
        """LangChain's embeddings where the store has such."""
        return getattr(self.store.embedder, "model", None)

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Add or, where there are documents of their ids, replace; the ids. `ids` come before the documents' own."""
        ids = kwargs.get("ids") or [None] * len(documents)
        require(len(ids) == len(documents), f"there are {len(documents)} documents, and as many ids are needed", ids)
        named = [d if i is None else d.model_copy(update={"id": i}) for d, i in zip(documents, ids, strict=True)]
        stored = self.store.add_documents(named) if named else []
        self.store.embed()
        return stored

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> list[str]:
        """Add texts as documents; the ids."""
        pages = list(texts)
        about = metadatas or [{}] * len(pages)
        rows = zip(pages, about, strict=True)
        return self.add_documents([Document(page, metadata=more) for page, more in rows], **kwargs)

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents of these ids, in their order; those that there are not are left out."""
        return self.store.get_by_ids(ids)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Take out the documents of these ids; an id that there is not is no fault."""
        require(ids is not None, "ids are needed to delete documents; `remove` of the store takes patterns", ids)
        self.store.delete(ids or [])
        return True

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Find the best k passages; with `arch`, without documents for other GPUs only."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """Find the best k passages with their scores, which order those of one search and mean nothing across."""
        return [(given_passage(hit), hit.score) for hit in self.store.search(query, k, kwargs.get("arch"))]

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings, metadatas: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> NotesVectorStore:
        """Make a store in `folder` and add texts; `embedding_id` names model and place of the embeddings."""
        folder, name = kwargs.pop("folder", None), kwargs.pop("embedding_id", type(embedding).__name__)
        require(isinstance(folder, str | Path), "a store needs a folder: from_texts(..., folder=PATH)", folder)
        vectors = cls(KnowledgeStore(folder, embedder=LangChainEmbedder(embedding, name)))
        vectors.add_texts(texts, metadatas, **kwargs)
        return vectors
