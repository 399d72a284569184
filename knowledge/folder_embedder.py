"""Text to vectors by a sentence model in a folder, in this process. Nothing is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowledge.embedder import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_TOKENS = 512  # of a passage, or fewer where the model's folder says so; the rest does not count
PART = 8  # texts that the model reads at once
_END_BYTES = 1 << 20  # at either end of the model, by which it is told from others


class FolderEmbedder:
    """A folder with `tokenizer.json`, and `model.onnx` in it or in `onnx`, as sentence-transformers exports them."""

    def __init__(self, folder: Path) -> None:
        """EmbedderError where a file is missing; the model is loaded when it is first asked."""
        places = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
        self._model = next((place for place in places if place.is_file()), places[0])
        self._words = folder / "tokenizer.json"
        for path in (self._model, self._words):
            if not path.is_file():
                raise EmbedderError(
                    f"the embedding model {folder} has no {path.relative_to(folder)}; export it to ONNX"
                )
        self._most_tokens = _most_tokens(folder / "sentence_bert_config.json")
        self.id = f"{folder.name} {self._digest()}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The mean of each text's token vectors, or the model's own vector where it gives one for each text."""
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
        parts = [order[start : start + PART] for start in range(0, len(order), PART)]
        found = [self._vectors([encoded[place] for place in part]) for part in parts]
        made: NDArray[np.float32] = np.concatenate(found)[np.argsort(order)]
        return made

    def _vectors(self, encoded: Sequence[Any]) -> NDArray[np.float32]:
        """Those of texts of like length: the model works on what pads the shorter ones, too."""
        import numpy as np

        longest = max(len(row.ids) for row in encoded)
        for row in encoded:
            row.pad(longest)
        columns = {
            "input_ids": [row.ids for row in encoded],
            "attention_mask": [row.attention_mask for row in encoded],
            "token_type_ids": [row.type_ids for row in encoded],
        }
        wanted = [asked.name for asked in self._session.get_inputs()]
        if unknown := [name for name in wanted if name not in columns]:
            raise EmbedderError(f"the embedding model {self._model} wants {unknown[0]}, which no text has")
        feed = {name: np.array(columns[name], np.int64) for name in wanted}
        found = np.asarray(self._session.run(None, feed)[0], np.float32)
        if found.ndim != 3:
            return found
        mask = np.array(columns["attention_mask"], np.float32)[:, :, None]
        mean: NDArray[np.float32] = (found * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
        return mean

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(str(self._words))
        made.enable_truncation(self._most_tokens)
        made.no_padding()  # texts of like length are padded together
        return made

    @cached_property
    def _session(self) -> Any:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as faults

        try:
            return onnxruntime.InferenceSession(str(self._model), providers=["CPUExecutionProvider"])
        except (faults.Fail, faults.InvalidProtobuf, faults.InvalidGraph, faults.NotImplemented, RuntimeError) as error:
            raise EmbedderError(f"the embedding model {self._model} is no ONNX model that can be run") from error

    def _digest(self) -> str:
        made = hashlib.sha256(self._words.read_bytes() + str(self._most_tokens).encode())
        with self._model.open("rb") as file:
            made.update(file.read(_END_BYTES))
            size = file.seek(0, 2)
            file.seek(max(0, size - _END_BYTES))
            made.update(file.read() + str(size).encode())
        return made.hexdigest()[:12]


def _most_tokens(config: Path) -> int:
    """The tokens of a text that the model was made for, where sentence-transformers left that beside it."""
    try:
        told = json.loads(config.read_text(encoding="utf-8"))["max_seq_length"]
    except (OSError, ValueError, KeyError, TypeError):
        return MOST_TOKENS
    return min(told, MOST_TOKENS) if isinstance(told, int) and told > 0 else MOST_TOKENS
