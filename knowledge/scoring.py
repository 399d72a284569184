"""The fusion of two rankings, and a limit for each document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

RANK_CONSTANT = 60  # of reciprocal rank fusion: how much the very first places count above the next


def fuse(rankings: Iterable[tuple[float, Sequence[int]]]) -> list[tuple[int, float]]:
    """Reciprocal rank fusion of (weight, passage numbers best first); ties go to the smaller number."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for place, chunk in enumerate(ranking, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + weight / (RANK_CONSTANT + place)
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
