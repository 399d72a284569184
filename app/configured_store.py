"""The knowledge store that the settings name, with their embedder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.settings import Settings
    from knowledge.embedder import Embedder, EndpointEmbedder
    from knowledge.store import KnowledgeStore

OPENAI = "https://api.openai.com/v1"
CHROMA = "chroma"  # as a model's name: the one that comes with Chroma


def make_store(settings: Settings, paid: Callable[[EndpointEmbedder], Embedder] | None = None) -> KnowledgeStore:
    """Nothing is opened or asked yet. `paid` puts what an endpoint is asked on somebody's account."""
    from knowledge.store import KnowledgeStore

    return KnowledgeStore(settings.knowledge, embedder=_embedder(settings, paid), weight=settings.embedding_weight)


def _embedder(settings: Settings, paid: Callable[[EndpointEmbedder], Embedder] | None) -> Embedder | None:
    from knowledge.embedder import EndpointEmbedder

    if not settings.embedding_model:
        return None
    folder = Path(settings.embedding_model).expanduser()
    if settings.embedding_model == CHROMA or folder.is_dir():
        from knowledge.folder_embedder import FolderEmbedder, chroma_model

        return FolderEmbedder(chroma_model() if settings.embedding_model == CHROMA else folder)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    address = settings.embedding_base_url or settings.base_url or OPENAI
    asked = EndpointEmbedder(address, settings.embedding_model, key)
    return paid(asked) if paid else asked
