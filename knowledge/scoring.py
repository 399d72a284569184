"""The fusion of two rankings, and a limit for each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def fuse(
    words: Sequence[tuple[int, float]], near: Sequence[tuple[int, float]], weight: float
) -> list[tuple[int, float]]:
    """Shares of the best score by words, and weighted cosines between the least and the largest of those found.

    What only one of the two rankings has gets nothing from the other; ties go to the smaller number. Places alone, as
    in reciprocal rank fusion, would say that the first and the tenth differ little.
    """
    best = max((score for _, score in words), default=1.0)
    scores = {chunk: score / best for chunk, score in words}
    cosines = [cosine for _, cosine in near]
    least, span = min(cosines, default=0.0), max(cosines, default=0.0) - min(cosines, default=0.0)
    for chunk, cosine in near:
        scores[chunk] = scores.get(chunk, 0.0) + weight * ((cosine - least) / span if span else 1.0)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def spread(
    ranked: Sequence[tuple[int, float]], document_of: Callable[[int], int], k: int, most: int = 2
) -> list[tuple[int, float]]:
    """The best k chunks, at most `most` of one document while other documents have passages.

    Returns:
        Chunk numbers with their scores; those held back fill what is left, so k are returned if k exist.
    """
    taken: dict[int, int] = {}
    first: list[tuple[int, float]] = []
    held: list[tuple[int, float]] = []
    for chunk, score in ranked:
        owner = document_of(chunk)
        taken[owner] = taken.get(owner, 0) + 1
        (first if taken[owner] <= most else held).append((chunk, score))
    return (first + held)[:k]
