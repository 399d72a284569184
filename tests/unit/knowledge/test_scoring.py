from __future__ import annotations

from knowledge.scoring import fuse, spread


def test_fusion_adds_shares_of_the_best_score_and_weighted_cosines() -> None:
    words, near = [(1, 8.0), (2, 6.0), (7, 1.0)], [(2, 1.0), (3, 0.75), (4, 0.5)]
    assert fuse(words, near, 0.5) == [(2, 0.75 + 0.5), (1, 1.0), (3, 0.25), (7, 0.125), (4, 0.0)]
    assert [n for n, _ in fuse(words, near, 0.1)] == [1, 2, 7, 3, 4], "a clear lead by words stays one"
    assert fuse(words, [], 0.5) == [(1, 1.0), (2, 0.75), (7, 0.125)]
    assert fuse([], [(9, 0.4), (3, 0.4)], 0.5) == [(3, 0.5), (9, 0.5)]


def test_one_document_does_not_fill_the_answer() -> None:
    ranking = [(n, 1.0 / n) for n in range(1, 7)]
    owner = {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 2}
    assert [n for n, _ in spread(ranking, owner.__getitem__, 4)] == [1, 2, 5, 6]
    assert [n for n, _ in spread(ranking, owner.__getitem__, 6)] == [1, 2, 5, 6, 3, 4]
    assert [n for n, _ in spread(ranking[:4], owner.__getitem__, 3)] == [1, 2, 3]
