"""Ranks of passages: Okapi BM25 over stored postings, the fusion of two rankings, and a limit for each document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

K1 = 1.2  # how soon repeats of a term stop counting
B = 0.5  # how much a long chunk is held back; chunks are of similar size, so less than the usual 0.75
RANK_CONSTANT = 60  # of reciprocal rank fusion: how much the very first places count above the next

Postings = Callable[[str], Sequence[tuple[int, int]]]  # term -> (chunk number, occurrences)


def rank(
    terms: Sequence[str], postings: Postings, lengths: Mapping[int, int], allowed: Callable[[int], bool]
) -> list[tuple[int, float]]:
    """Chunk numbers with scores, best first; ties go to the smaller number, so that the order is stable.

    Args:
        terms: the query's tokens; repeats count.
        postings: looks up one term.
        lengths: tokens by chunk number; a chunk that is not in it does not exist.
        allowed: true for a chunk that may be returned.
    """
    if not lengths:
        return []
    mean = sum(lengths.values()) / len(lengths) or 1.0
    scores: dict[int, float] = {}
    for term, weight in Counter(terms).items():
        rows = [row for row in postings(term) if row[0] in lengths]
        idf = math.log(1.0 + (len(lengths) - len(rows) + 0.5) / (len(rows) + 0.5))
        for chunk, count in rows:
            if allowed(chunk):
                norm = K1 * (1.0 - B + B * lengths[chunk] / mean)
                scores[chunk] = scores.get(chunk, 0.0) + weight * idf * count * (K1 + 1.0) / (count + norm)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def fuse(rankings: Iterable[tuple[float, Sequence[int]]]) -> list[tuple[int, float]]:
    """Reciprocal rank fusion of (weight, chunk numbers best first); ties go to the smaller number."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for place, chunk in enumerate(ranking, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + weight / (RANK_CONSTANT + place)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def spread(
    ranked: Sequence[tuple[int, float]], document_of: Mapping[int, int], k: int, most: int = 2
) -> list[tuple[int, float]]:
    """The best k chunks, at most `most` of one document while other documents have passages.

    Returns:
        Chunk numbers with their scores; those held back fill what is left, so k are returned if k exist.
    """
    taken: dict[int, int] = {}
    first: list[tuple[int, float]] = []
    held: list[tuple[int, float]] = []
    for chunk, score in ranked:
        owner = document_of[chunk]
        taken[owner] = taken.get(owner, 0) + 1
        (first if taken[owner] <= most else held).append((chunk, score))
    return (first + held)[:k]
