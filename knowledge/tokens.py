"""Words for lexical search over kernel literature: identifiers whole and in parts, and one word for synonyms."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path

TOKENISER = 7  # part of every derived index: raise it when tokens or postings change

_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")
_SHAPE = re.compile(r"\d+x\d+(?:x\d+)?")
_AMERICAN, _BRITISH = re.compile(r"(?<=[a-z]{2}[iy])z(?=(?:at|ation|er)?$)"), re.compile("(?<=[a-z]{4})our$")
_STOP = frozenset(
    """
    a an and are as at be been but by can do does for from get has have how i if in into is it its may me my not of on
    one or should so such than that the their them then there these they this those to was we what when where which
    while who why will with would you your
    """.split()  # noqa: SIM905
)

_CONCEPTS = Path(__file__).parent / "concepts.txt"
MOST_WORDS = 300_000  # that are remembered at once, so that memory stays bounded
KIN = "~"  # begins a group of words that only go together, and its concept, which counts less


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Fold plural and verb endings of a lower-case word, so that `padding` meets `pad` and `caches` meets `cache`.

    British and American spellings meet, too: `quantize` and `quantise`, `behaviour` and `behavior`.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2 and _VOWEL.search(word[: -len(ending)]):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    word = word[:-1] if len(word) > 3 and word.endswith("e") else word
    return _AMERICAN.sub("s", word) if "z" in word else _BRITISH.sub("or", word)


@cache
def concepts() -> tuple[dict[str, list[str]], dict[tuple[str, ...], str]]:
    """Concepts by word, and by phrase of two or three words; the file has a group of phrases a line."""
    words, phrases = defaultdict[str, list[str]](list), dict[tuple[str, ...], str]()
    for line in _CONCEPTS.read_text(encoding="utf-8").splitlines():
        sign = KIN if line.startswith(KIN) else "="
        group = [phrase.strip(f"{KIN} ") for phrase in line.split(",") if line and not line.startswith("#")]
        for phrase in group:
            stems = tuple(stem(part) for part in re.split(r"[ _]+", phrase) if part not in _STOP)
            concept = sign + group[0].replace(" ", "-")
            if len(stems) == 1:
                words[stems[0]].append(concept)
            else:
                phrases[stems] = concept
    return dict(words), phrases


_SPACED = str.maketrans({chr(code): " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")})


def split(text: str) -> list[str]:
    """List the words of a text in their order, as they stand."""
    if text.isascii():
        return text.translate(_SPACED).split()
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def words(text: str) -> list[str]:
    """Plain stemmed words in their order: identifiers are cut at underscores, stop words are left out."""
    return [part for word in split(text) for part in parts(word)]


def parts(word: str) -> tuple[str, ...]:
    """Return a word's stem, or those of the parts between underscores; nothing for a stop word."""
    return tuple(stem(part) for part in word.lower().split("_") if part and part not in _STOP)


def identifier(word: str) -> tuple[str, ...]:
    """Return the whole and the inner parts of an identifier; nothing for a plain word."""
    bare = word.strip("_")
    if bare.isalpha() and (bare.islower() or bare.istitle() or bare.isupper()):
        return ()
    terms = [bare.lower()] if "_" in bare else []
    terms += _SHAPE.findall(bare.lower())
    for part in bare.split("_"):
        pieces = [piece.lower() for piece in _PIECE.findall(part)]
        if len(pieces) > 1:
            terms += [stem(piece) for piece in pieces if len(piece) > 1]
    return tuple(terms)


class _TermCache(dict[str, tuple[tuple[str, ...], tuple[str, ...]]]):
    """The meaning of each word met so far: its stems, and the parts of an identifier with the concepts."""

    def __missing__(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if len(self) >= MOST_WORDS:
            self.clear()
        stems = parts(word)
        more = chain.from_iterable(concepts()[0].get(stem, ()) for stem in stems)
        self[word] = terms = stems, (*identifier(word), *more)
        return terms


_KNOWN = _TermCache()


def tokens(text: str) -> list[str]:
    """List the terms of a text, with repeats: stems, identifiers and their parts, and concepts of words and phrases."""
    rows = list(map(_KNOWN.__getitem__, split(text)))
    stems = [stem for row in rows for stem in row[0]]
    terms = stems + [term for row in rows for term in row[1]]
    phrases = concepts()[1]
    for pair in (pairwise(stems), zip(stems, stems[1:], stems[2:], strict=False)):
        terms += map(phrases.__getitem__, filter(phrases.__contains__, pair))
    return terms
