"""The knowledge store that the settings name, with their embedder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.settings import Settings
    from knowledge.embedder import Embedder
    from knowledge.store import KnowledgeStore

OPENAI = "https://api.openai.com/v1"


def make_store(settings: Settings) -> KnowledgeStore:
    """Nothing is opened or asked yet."""
    from knowledge.embedder import EndpointEmbedder
    from knowledge.store import KnowledgeStore

    embedder: Embedder | None = None
    folder = Path(settings.embedding_model or "").expanduser()
    if settings.embedding_model and folder.is_dir():
        from knowledge.folder_embedder import FolderEmbedder

        embedder = FolderEmbedder(folder)
    elif settings.embedding_model:
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        address = settings.embedding_base_url or settings.base_url or OPENAI
        embedder = EndpointEmbedder(address, settings.embedding_model, key)
    return KnowledgeStore(settings.knowledge, embedder=embedder)
