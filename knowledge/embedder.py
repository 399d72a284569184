"""Text to vectors, by a model behind any OpenAI-compatible endpoint or in a folder, of which nothing is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from records.address import shown_address
from records.computed_once import computed_once
from records.errors import KnowledgeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from openai import OpenAI

ANSWER_S = 10.0  # that an endpoint may take, and a second more for each text
MOST_TOKENS = 512  # of a passage that a model in a folder reads, where its tokeniser does not say how many
PART = 8  # texts that it reads at once
_END_BYTES = 1 << 20  # at either end of the model, by which it is told from others
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

    def __init__(self, base_url: str, model: str, api_key: str, retries: int = 2) -> None:
        """Nothing is asked yet. Vectors of one model at two addresses count as two embedders'."""
        self.id = f"{model} at {re.sub('^https?://', '', shown_address(base_url))}"
        self.model = model
        self.tokens = 0  # of all answers so far
        self._base_url, self._api_key, self._retries = base_url, api_key, retries

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One request for all texts."""
        return self.counted(texts)[0]

    def counted(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Vectors and the tokens that the server counted; the most they can be where it counted none."""
        import httpx
        import numpy as np
        from openai import OpenAIError

        try:
            most_s = ANSWER_S + len(texts)
            answer = self._client.embeddings.create(model=self.model, input=list(texts), timeout=most_s)
            rows = sorted(answer.data, key=lambda row: row.index or 0)  # a server that works in parallel may mix them
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
            prompt_tokens = getattr(answer.usage, "prompt_tokens", 0)
            tokens = prompt_tokens if isinstance(prompt_tokens, int) and prompt_tokens > 0 else most_tokens(texts)
            self.tokens += tokens
            return vectors, tokens
        except (OpenAIError, httpx.HTTPError, ValueError, TypeError, AttributeError) as error:
            # The last three are the client's, for an answer that is no list of vectors.
            raise _fault(self.id, error, self._api_key) from error

    @computed_once
    def _client(self) -> OpenAI:
        from openai import OpenAI

        return OpenAI(base_url=self._base_url, api_key=self._api_key or "none", max_retries=self._retries)


class FolderEmbedder:
    """A folder with `tokenizer.json`, and `model.onnx` in it or in `onnx`, as sentence-transformers exports them."""

    def __init__(self, folder: Path) -> None:
        """EmbedderError where a file is missing; the model is loaded when it is first asked."""
        candidates = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
        self._model = next((path for path in candidates if path.is_file()), candidates[0])
        self._words = folder / "tokenizer.json"
        if not folder.is_dir():
            raise EmbedderError(f"there is no folder {folder}, which is to hold an embedding model; check the path")
        for path in (self._model, self._words):
            if not path.is_file():
                raise EmbedderError(f"the embedding model {folder} has no {path.name}; export it to ONNX")
        self.id = f"{folder.name} {self._digest()}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Compute the mean of each text's token vectors, or the model's own vector where it gives one for each text."""
        import numpy as np

        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))  # what pads the shorter ones costs
        parts = [order[start : start + PART] for start in range(0, len(order), PART)]
        batches = [self._vectors([texts[index] for index in part]) for part in parts]
        vectors: NDArray[np.float32] = np.concatenate(batches)[np.argsort(order)]
        return vectors

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        columns = {
            "input_ids": [row.ids for row in encoded],
            "attention_mask": [row.attention_mask for row in encoded],
            "token_type_ids": [row.type_ids for row in encoded],
        }
        feed = {
            model_input.name: np.array(columns[model_input.name], np.int64)
            for model_input in self._session.get_inputs()
        }
        output = np.asarray(self._session.run(None, feed)[0], np.float32)
        if output.ndim != 3:
            return output
        mask = np.array(columns["attention_mask"], np.float32)[:, :, None]
        mean: NDArray[np.float32] = (output * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
        return mean

    @computed_once
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._words))
        if tokenizer.truncation is None:
            tokenizer.enable_truncation(MOST_TOKENS)
        tokenizer.enable_padding()
        return tokenizer

    @computed_once
    def _session(self) -> Any:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as faults

        try:
            return onnxruntime.InferenceSession(str(self._model), providers=["CPUExecutionProvider"])
        except (faults.Fail, faults.InvalidProtobuf, faults.InvalidGraph, faults.NotImplemented, RuntimeError) as error:
            raise EmbedderError(f"the embedding model {self._model} is no ONNX model that can be run") from error

    def _digest(self) -> str:
        digest = hashlib.sha256(self._words.read_bytes())
        with self._model.open("rb") as file:
            digest.update(file.read(_END_BYTES))
            size = file.seek(0, 2)
            file.seek(max(0, size - _END_BYTES))
            digest.update(file.read() + str(size).encode())
        return digest.hexdigest()[:12]


def _fault(identity: str, error: Exception, secret: str = "") -> EmbedderError:
    reason = (str(error).splitlines() or [""])[0][:200]
    reason = reason.replace(secret, "...") if len(secret) > MOST_SHOWN else reason
    return EmbedderError(f"the embedder {identity} gave no vectors ({type(error).__name__}: {reason})")


def most_tokens(texts: Sequence[str]) -> int:
    """Return the most tokens that texts can have: one a byte, and a start and an end each."""
    return sum(len(text.encode()) + 2 for text in texts)


def checked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length 1, or 0 where all numbers are; EmbedderError for too few or many, or what is not finite."""
    import numpy as np

    try:
        with np.errstate(over="ignore"):  # what no float32 holds is infinite, and refused
            rows = np.asarray(embedder.embed(texts), dtype=np.float32)
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        # A program's own embedder: its faults, and rows that are none.
        raise _fault(embedder.id, error) from error
    if rows.ndim != 2 or len(rows) != len(texts) or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise EmbedderError(f"the embedder {embedder.id} gave {rows.shape} numbers for {len(texts)} texts")
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)  # squares may be beyond float32
    unit: NDArray[np.float32] = (rows / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return unit
