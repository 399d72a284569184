"""Text to vectors, by a model behind any OpenAI-compatible endpoint. Without one, search is by words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from records.errors import KnowledgeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from openai import OpenAI


MOST_SHOWN = 7  # letters of a key that is none: servers on one's own machine take any word, which errors may have too


class EmbedderError(KnowledgeError):
    """The embedder gave no usable vectors; what was embedded before is kept."""


class Embedder(Protocol):
    """Anything that turns texts into vectors; `id` names model and place, for it keys every stored vector."""

    id: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape [len(texts), dimension], float32; EmbedderError where there are none."""


class EndpointEmbedder:
    """A model behind an endpoint, asked by OpenAI's own client: LangChain's drops what was used."""

    def __init__(self, base_url: str, model: str, api_key: str, timeout_s: float = 10.0, retries: int = 2) -> None:
        """Nothing is asked yet. An answer may take `timeout_s`, and a second more for each text.

        Vectors of one model at two addresses count as two embedders'.
        """
        self.id = f"{model} at {re.sub('^https?://', '', base_url)}"
        self.model = model
        self.tokens = 0  # of all answers so far
        self._base_url, self._api_key, self._timeout_s, self._retries = base_url, api_key, timeout_s, retries

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One request for all texts."""
        return self.counted(texts)[0]

    def counted(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Vectors and the tokens that the server counted; the most they can be where it counted none."""
        import httpx
        import numpy as np
        from openai import OpenAIError

        try:
            most_s = self._timeout_s + len(texts)
            answer = self._client.embeddings.create(model=self.model, input=list(texts), timeout=most_s)
            rows = sorted(answer.data, key=lambda row: row.index or 0)  # a server that works in parallel may mix them
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
            told = getattr(answer.usage, "prompt_tokens", 0)
            tokens = told if isinstance(told, int) and told > 0 else most_tokens(texts)
            self.tokens += tokens
            return vectors, tokens
        except (OpenAIError, httpx.HTTPError, ValueError, TypeError, AttributeError) as error:
            # The last three are the client's, for an answer that is no list of vectors.
            said = (str(error).splitlines() or [""])[0][:200]
            said = said.replace(self._api_key, "...") if len(self._api_key) > MOST_SHOWN else said
            raise EmbedderError(f"the embedder {self.id} gave no vectors ({type(error).__name__}: {said})") from error

    @cached_property
    def _client(self) -> OpenAI:
        from openai import OpenAI

        key = self._api_key or "none"
        return OpenAI(base_url=self._base_url, api_key=key, max_retries=self._retries)


def most_tokens(texts: Sequence[str]) -> int:
    """The most tokens that texts can have: one a byte, and a start and an end each."""
    return sum(len(text.encode()) + 2 for text in texts)


def checked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length 1, or 0 where all numbers are; EmbedderError for too few or many, or what is not finite."""
    import numpy as np

    try:
        with np.errstate(over="ignore"):  # what no float32 holds is infinite, and refused
            rows = np.asarray(embedder.embed(texts), dtype=np.float32)
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        # A program's own embedder: its faults, and rows that are none.
        said = (str(error).splitlines() or [""])[0][:200]
        raise EmbedderError(f"the embedder {embedder.id} gave no vectors ({type(error).__name__}: {said})") from error
    if rows.ndim != 2 or len(rows) != len(texts) or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise EmbedderError(f"the embedder {embedder.id} gave {rows.shape} numbers for {len(texts)} texts")
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)  # squares may be beyond float32
    unit: NDArray[np.float32] = (rows / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return unit
