from __future__ import annotations

from collections import Counter

import numpy as np

from knowledge.embedder import HashingEmbedder
from knowledge.scoring import fuse, rank, spread
from knowledge.tokens import tokens

TEXTS = {1: "lds bank conflicts and padding of lds rows", 2: "the lds is small", 3: "matrix cores multiply tiles"}


def ranked(query: str, allowed: set[int] | None = None) -> list[int]:
    terms = {n: Counter(tokens(text)) for n, text in TEXTS.items()}
    lengths = {n: sum(counts.values()) for n, counts in terms.items()}

    def postings(term: str) -> list[tuple[int, int]]:
        return [(n, counts[term]) for n, counts in terms.items() if term in counts]

    return [n for n, _ in rank(tokens(query), postings, lengths, (allowed or set(TEXTS)).__contains__)]


def test_bm25_prefers_the_rarer_and_more_frequent_word() -> None:
    assert ranked("lds padding") == [1, 2]
    assert ranked("tensor cores") == [3]
    assert ranked("shared memory", {2, 3}) == [2]
    assert ranked("nothing of this") == []


def test_bm25_agrees_with_the_formula() -> None:
    (_, score), *_ = rank(["a"], lambda _: [(1, 2)], {1: 4, 2: 8}, {1, 2}.__contains__)
    idf = np.log(1 + (2 - 1 + 0.5) / 1.5)
    assert np.isclose(score, idf * 2 * 2.2 / (2 + 1.2 * (0.5 + 0.5 * 4 / 6)))


def test_fusion_rewards_agreement() -> None:
    assert [n for n, _ in fuse([(1.0, [1, 2]), (0.5, [2, 3])])] == [2, 1, 3]
    assert fuse([(1.0, [5]), (1.0, [5, 4])]) == [(5, 2 / 61), (4, 1 / 62)]
    assert [n for n, _ in fuse([(1.0, [9]), (1.0, [3])])] == [3, 9]


def test_one_document_does_not_fill_the_answer() -> None:
    ranking = [(n, 1.0 / n) for n in range(1, 7)]
    owner = {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 2}
    assert [n for n, _ in spread(ranking, owner, 4)] == [1, 2, 5, 6]
    assert [n for n, _ in spread(ranking, owner, 6)] == [1, 2, 5, 6, 3, 4]
    assert [n for n, _ in spread(ranking[:4], owner, 3)] == [1, 2, 3]


def test_the_hashing_embedder_is_deterministic_and_of_unit_length() -> None:
    one, two, blank = HashingEmbedder().embed(["LDS bank conflicts", "shared memory bank conflict", "..."])
    assert one.dtype == np.float32 and one.shape == (384,)
    assert np.isclose(np.linalg.norm(one), 1.0) and not blank.any()
    assert np.array_equal(one, HashingEmbedder().embed(["LDS bank conflicts"])[0])
    other = HashingEmbedder().embed(["rounding of fp8 values"])[0]
    assert one @ two > 0.4 > one @ other
    assert HashingEmbedder(64).embed(["x y"]).shape == (1, 64)
