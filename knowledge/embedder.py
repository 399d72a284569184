"""Text to vectors, by a model behind any OpenAI-compatible endpoint. Without one, search is by words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from records.errors import KnowledgeError

if TYPE_CHECKING:
    import numpy as np
    from langchain_openai import OpenAIEmbeddings
    from numpy.typing import NDArray


class EmbedderError(KnowledgeError):
    """The embedder gave no usable vectors; what was embedded before is kept."""


class Embedder(Protocol):
    """Anything that turns texts into vectors; `id` names model and place, for it keys every stored vector."""

    id: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape [len(texts), dimension], float32; EmbedderError where there are none."""


class EndpointEmbedder:
    """A model behind an endpoint, asked by the client of langchain-openai."""

    def __init__(self, base_url: str, model: str, api_key: str, timeout_s: float = 60.0, retries: int = 2) -> None:
        """Nothing is asked yet. Vectors of one model at two addresses count as two embedders'."""
        self.id = f"{model} at {re.sub('^https?://', '', base_url)}"
        self.model = model
        self.tokens = 0  # of all answers so far
        self._base_url, self._api_key = base_url, api_key
        self._timeout_s, self._retries = timeout_s, retries
        self._client: OpenAIEmbeddings | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One request for all texts."""
        return self.counted(texts)[0]

    def counted(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Vectors and the tokens that the server counted; the most they can be where it counted none."""
        import httpx
        import numpy as np
        from openai import OpenAIError

        try:
            # The client's own embed_documents() drops the usage.
            answer = self._made().client.create(model=self.model, input=list(texts))
            vectors = np.array([row.embedding for row in answer.data], dtype=np.float32)
            told = getattr(answer.usage, "prompt_tokens", 0)
            tokens = told if isinstance(told, int) and told > 0 else most_tokens(texts)
            self.tokens += tokens
            return vectors, tokens
        except (OpenAIError, httpx.HTTPError, ValueError, TypeError, AttributeError) as error:
            # The last three are the client's, for an answer that is no list of vectors.
            said = (str(error).splitlines() or [""])[0][:200]
            raise EmbedderError(f"the embedder {self.id} gave no vectors ({type(error).__name__}: {said})") from error

    def _made(self) -> OpenAIEmbeddings:
        if self._client is None:
            from langchain_openai import OpenAIEmbeddings
            from pydantic import SecretStr

            self._client = OpenAIEmbeddings(
                model=self.model,
                base_url=self._base_url,
                api_key=SecretStr(self._api_key or "none"),
                check_embedding_ctx_length=False,  # else it downloads a tokeniser and sends numbers for text
                timeout=self._timeout_s,
                max_retries=self._retries,
                chunk_size=1000,
            )
        return self._client


def most_tokens(texts: Sequence[str]) -> int:
    """The most tokens that texts can have: one a byte, and a start and an end each."""
    return sum(len(text.encode()) + 2 for text in texts)


def checked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length 1, one for each text; EmbedderError for any other number or what is not finite."""
    import numpy as np

    rows = np.asarray(embedder.embed(texts), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts) or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise EmbedderError(f"the embedder {embedder.id} gave {rows.shape} numbers for {len(texts)} texts")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (rows / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return unit
