"""The knowledge store that the settings name, with their embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.settings import Settings
    from knowledge.store import KnowledgeStore

OPENAI = "https://api.openai.com/v1"


def make_store(settings: Settings) -> KnowledgeStore:
    """Nothing is opened or asked yet."""
    from knowledge.embedder import EndpointEmbedder
    from knowledge.store import KnowledgeStore

    embedder = None
    if settings.embedding_model:
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        address = settings.embedding_base_url or settings.base_url or OPENAI
        embedder = EndpointEmbedder(address, settings.embedding_model, key)
    return KnowledgeStore(settings.knowledge, embedder=embedder)
