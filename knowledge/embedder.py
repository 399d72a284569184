"""Text to vectors. The default needs no model and no network: hashed words, word pairs, concepts and letter groups."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from knowledge.tokens import tokens, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Anything that turns texts into unit vectors; `id` names it and its version, for it keys every stored vector."""

    id: str  # letters, digits, dots and dashes
    dimension: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape [len(texts), dimension], float32, each of Euclidean length 1 (or all zero)."""


_PAIR, _LETTERS = 0.6, 0.35  # weights beside 1.0 for a token: pairs carry order, letter groups forgive spelling


class HashingEmbedder:
    """Deterministic on every machine: each feature adds +w or -w at a place that its CRC-32 chooses."""

    id = "hash.1"

    def __init__(self, dimension: int = 384) -> None:
        """Vectors of `dimension` numbers."""
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape [len(texts), dimension], float32, rows of length 1; a text without words gives zeros."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), dtype=np.float64)
        for row, text in zip(vectors, texts, strict=True):
            for feature, count in Counter(_features(text)).items():
                kind, _, _ = feature.partition(":")
                code = _code(feature)
                sign = 1.0 if code & 1 else -1.0
                row[(code >> 1) % self.dimension] += sign * _WEIGHTS[kind] * (1.0 + math.log(count))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)


_WEIGHTS = {"t": 1.0, "p": _PAIR, "l": _LETTERS}


def _features(text: str) -> Iterator[str]:
    yield from (f"t:{token}" for token in tokens(text))
    plain = words(text)
    yield from (f"p:{left} {right}" for left, right in pairwise(plain))
    for word in plain:
        yield from _letter_groups(word)


@lru_cache(maxsize=65536)
def _letter_groups(word: str) -> tuple[str, ...]:
    fenced = f"^{word}$"
    return tuple(f"l:{fenced[i : i + 4]}" for i in range(len(fenced) - 3)) if len(word) > 3 else ()


@lru_cache(maxsize=262144)
def _code(feature: str) -> int:
    return zlib.crc32(feature.encode("utf-8"))
