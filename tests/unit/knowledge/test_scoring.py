from __future__ import annotations

from knowledge.scoring import fuse, spread


def test_fusion_rewards_agreement() -> None:
    assert [n for n, _ in fuse([(1.0, [1, 2]), (0.5, [2, 3])])] == [2, 1, 3]
    assert fuse([(1.0, [5]), (1.0, [5, 4])]) == [(5, 2 / 61), (4, 1 / 62)]
    assert [n for n, _ in fuse([(1.0, [9]), (1.0, [3])])] == [3, 9]


def test_one_document_does_not_fill_the_answer() -> None:
    ranking = [(n, 1.0 / n) for n in range(1, 7)]
    owner = {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 2}
    assert [n for n, _ in spread(ranking, owner.__getitem__, 4)] == [1, 2, 5, 6]
    assert [n for n, _ in spread(ranking, owner.__getitem__, 6)] == [1, 2, 5, 6, 3, 4]
    assert [n for n, _ in spread(ranking[:4], owner.__getitem__, 3)] == [1, 2, 3]
