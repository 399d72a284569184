"""Terms by number, so that the words of a document are counted as arrays: a look-up a word, and no call of ours.

A term is a stemmed word, an identifier, a part of one, or a concept (`=lds`) that a word or a phrase stands for.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from knowledge.tokens import concepts, identifier, parts, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

MOST_WORDS = 300_000  # of one vocabulary: a new one is begun then, so that memory stays bounded
_SHIFT = 20  # bits of a term's number in the key of a phrase; the terms of phrases come first, so they are small


class Vocabulary(dict[str, int]):
    """The words met so far, by number, and the terms of each."""

    def __init__(self) -> None:
        """The terms of phrases are numbered first."""
        super().__init__()
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._plain, self._inner = _Rows(), _Rows()
        self._concepts, phrases = concepts()
        rows = {phrase: [self._term(part) for part in phrase] for phrase in sorted(phrases)}
        self._low = len(self.names)
        self._lock = threading.Lock()
        self._phrases: dict[int, list[tuple[int, int]]] = {len(phrase): [] for phrase in rows}
        for phrase, numbers in rows.items():
            key = reduce(lambda made, number: (made << _SHIFT) | number, numbers, 0)
            self._phrases[len(phrase)].append((key, self._term(phrases[phrase])))

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        plain = parts(word)
        self._plain.add([self._term(part) for part in plain])
        others = [concept for part in plain for concept in self._concepts.get(part, ())]
        self._inner.add([self._term(name) for name in (*identifier(word), *others)])
        return number

    def terms(self, texts: Sequence[str]) -> list[Numbers]:
        """The numbers of the terms of each text, with repeats; phrases do not go from one text to the next."""
        import numpy as np

        if not texts:
            return []
        found, ends = array("q"), [0]
        with self._lock:
            for text in texts:
                found.extend(map(self.__getitem__, split(text)))
                ends.append(len(found))
            words = np.array(found, dtype=np.int64)
            owners = np.repeat(np.arange(len(texts)), np.diff(ends))
            plain, whose = self._plain.of(words, owners)
            inner, theirs = self._inner.of(words, owners)
        more, belong = self._in_phrases(plain, whose)
        terms, of = np.concatenate([plain, inner, more]), np.concatenate([whose, theirs, belong])
        order = np.argsort(of, kind="stable")
        return np.split(terms[order], np.cumsum(np.bincount(of, minlength=len(texts)))[:-1])

    def _in_phrases(self, plain: Numbers, whose: Numbers) -> tuple[Numbers, Numbers]:
        """The concepts of phrases."""
        import numpy as np

        start = np.flatnonzero(plain < self._low)
        terms, owners = [], []
        for size, (keys, meant) in self._tables.items():
            place = start[start + size <= len(plain)]
            inside = whose[place + size - 1] == whose[place]
            key = np.zeros(len(place), np.int64)
            for step in range(size):
                word = plain[place + step]
                inside &= word < self._low
                key = (key << _SHIFT) | word
            key = np.where(inside, key, -1)
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            hit = keys[at] == key
            terms.append(meant[at[hit]])
            owners.append(whose[place[hit]])
        return np.concatenate(terms), np.concatenate(owners)

    @cached_property
    def _tables(self) -> dict[int, tuple[Numbers, Numbers]]:
        import numpy as np

        return {size: tuple(np.array(sorted(rows), np.int64).T) for size, rows in self._phrases.items()}

    def _term(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


class _Rows:
    """Rows of numbers, one behind the other."""

    def __init__(self) -> None:
        self._starts, self._values = array("q", [0]), array("q")

    def add(self, row: Sequence[int]) -> None:
        self._values.extend(row)
        self._starts.append(len(self._values))

    def of(self, rows: Numbers, owners: Numbers) -> tuple[Numbers, Numbers]:
        """The numbers of these rows in their order, and for each the owner of its row."""
        import numpy as np

        starts, values = np.frombuffer(self._starts, np.int64), np.frombuffer(self._values or array("q", [0]), np.int64)
        first, counts = starts[rows], starts[rows + 1] - starts[rows]
        ends = np.cumsum(counts)
        places = np.repeat(first - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)
        return values[places], np.repeat(owners, counts)


_shared: Vocabulary | None = None


def shared() -> Vocabulary:
    """The vocabulary of this process; a new one where the last has become large."""
    global _shared
    if _shared is None or len(_shared) > MOST_WORDS:
        _shared = Vocabulary()
    return _shared


def tokens(text: str) -> list[str]:
    """The terms of one text by name, with repeats."""
    vocabulary = shared()
    return [vocabulary.names[number] for number in vocabulary.terms([text])[0]]
