"""Okapi BM25 over postings that live elsewhere (here: in SQLite), so that starting up reads nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

K1 = 1.2  # how soon repeats of a term stop counting
B = 0.5  # how much a long chunk is held back; chunks are of similar size, so less than the usual 0.75

Postings = Callable[[str], Sequence[tuple[int, int]]]  # term -> (chunk number, occurrences)


def count_terms(terms: Sequence[str]) -> Counter[str]:
    """Occurrences by term: one chunk's postings."""
    return Counter(terms)


def rank(
    terms: Sequence[str], postings: Postings, lengths: Mapping[int, int], allowed: Callable[[int], bool]
) -> list[tuple[int, float]]:
    """Chunk numbers with scores, best first; ties go to the smaller number, so that the order is stable.

    Args:
        terms: the query's tokens; repeats count.
        postings: looks up one term.
        lengths: tokens by chunk number; a chunk that is not in it does not exist.
        allowed: says whether a chunk may be returned.
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
