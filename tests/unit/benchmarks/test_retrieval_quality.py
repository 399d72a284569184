from __future__ import annotations

import math

from benchmarks.retrieval_quality import figures, gains
from benchmarks.search_rivals import fts5

QUESTIONS = [{"question": "a", "expected": "x"}, {"question": "b", "expected": "y"}]


def test_the_gain_falls_with_the_place_of_the_right_document() -> None:
    assert gains(lambda _: ["x", "x", "y"], QUESTIONS) == [1.0, 1 / math.log2(3)]
    assert gains(lambda _: [str(i) for i in range(10)] + ["x", "y"], QUESTIONS) == [0.0, 0.0]


def test_the_bound_of_a_ratio_is_below_its_mean() -> None:
    rows = [("words", lambda _: ["x", "y"]), ("worse", lambda _: ["z", "x", "y"])]
    made = {f.figure.removeprefix("retrieval_quality."): f.value for f in figures(rows, QUESTIONS)}
    assert made["words.recall10"] == made["worse.recall10"] == 1.0
    assert made["words.ndcg10"] > made["worse.ndcg10"]
    assert 1.0 < made["worse.words_over_it"] <= made["words.ndcg10"] / made["worse.ndcg10"]


def test_a_rival_finds_the_passage() -> None:
    assert fts5(["zebra stripes", "a giraffe", "waves"])("giraffes?", 2) == [1]
