"""The knowledge store that the settings name, with their embedder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.own_embedder import address, is_left_open, remembered

if TYPE_CHECKING:
    from app.settings import Settings
    from knowledge.embedder import Embedder, EndpointEmbedder
    from knowledge.store import KnowledgeStore

OFF = "off"  # as a model's name: words alone
PATHS = ("/", ".", "~")  # begin the name of a folder, which is never asked of an endpoint: it would get the texts
CHROMA = "chroma"  # as a model's name: the one that comes with Chroma


def make_store(settings: Settings, paid: Callable[[EndpointEmbedder], Embedder] | None = None) -> KnowledgeStore:
    """Nothing is opened or asked yet. `paid` puts what an endpoint is asked on somebody's account."""
    from knowledge.store import KnowledgeStore

    return KnowledgeStore(settings.knowledge, embedder=_embedder(settings, paid), weight=settings.embedding_weight)


def _embedder(settings: Settings, paid: Callable[[EndpointEmbedder], Embedder] | None) -> Embedder | None:
    """None for words alone; EmbedderError where the named model is in no folder and no endpoint is set."""
    from documents.document_files import expanded
    from knowledge.embedder import EmbedderError, EndpointEmbedder, FolderEmbedder

    model = settings.embedding_model or (is_left_open(settings) and remembered(settings))
    if not model or model == OFF:
        return None
    if settings.embedding_model and (model == CHROMA or model.startswith(PATHS) or Path(model).is_dir()):
        return FolderEmbedder(_chroma_model() if model == CHROMA else expanded(Path(model)))
    if not (settings.has_model or settings.embedding_base_url):
        raise EmbedderError(
            f"the embedding model {model} is no folder, and no endpoint is set; set KERNEL_SCIENTIST_EMBEDDING_BASE_URL"
        )
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    embedder = EndpointEmbedder(address(settings), model, key)
    return paid(embedder) if paid else embedder


def _chroma_model() -> Path:
    """Find the folder of Chroma's own model, all-MiniLM-L6-v2, which Chroma fetches once and checks.

    Raises:
        EmbedderError: it is not here and cannot be fetched.
    """
    from knowledge.embedder import EmbedderError

    folder = Path.home() / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
    if not ((folder / "model.onnx").is_file() and (folder / "tokenizer.json").is_file()):
        import tarfile

        import httpx
        from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

        downloader = ONNXMiniLM_L6_V2()
        downloader.DOWNLOAD_PATH = folder.parent  # it read HOME when it was imported
        try:
            downloader(["a"])  # which makes it fetch the model
        except (httpx.HTTPError, OSError, ValueError, tarfile.TarError) as error:
            reason = (str(error).splitlines() or [""])[0][:100]
            raise EmbedderError(
                f"Chroma's embedding model cannot be fetched ({type(error).__name__}: {reason}); name a folder"
            ) from error
    return folder
