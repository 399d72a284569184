from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.retrieval_quality import QUESTIONS as QUESTIONS_FILE
from benchmarks.retrieval_quality import figures, gains, read_questions, tune
from benchmarks.search_rivals import fts5
from knowledge.store import NOTES, KnowledgeStore
from tests.unit.knowledge.fakes import WordEmbedder

QUESTIONS = [{"question": "a", "expected": ["x"]}, {"question": "b", "expected": ["y"], "unseen": True}]


def test_the_gain_falls_with_the_place_of_the_right_document() -> None:
    assert gains(lambda _: ["x", "x", "y"], QUESTIONS) == [1.0, 1 / math.log2(3)]
    assert gains(lambda _: [str(i) for i in range(10)] + ["x", "y"], QUESTIONS) == [0.0, 0.0]


def test_several_right_documents_share_the_gain() -> None:
    questions = [{"question": "a", "expected": ["x", "y"]}]
    assert gains(lambda _: ["x", "y"], questions) == [1.0]
    assert gains(lambda _: ["x", "z"], questions) == [1 / (1 + 1 / math.log2(3))]


def test_the_bound_of_a_ratio_is_below_its_mean() -> None:
    rows = [("words", lambda _: ["x", "y"]), ("worse", lambda _: ["z", "x", "y"])]
    by_name = {f.figure.removeprefix("retrieval_quality."): f for f in figures(rows, QUESTIONS)}
    assert by_name["words.recall10"].value == by_name["worse.recall10"].value == 1.0
    ratio = by_name["worse.words_over_it"]
    assert ratio.value == by_name["words.ndcg10"].value / by_name["worse.ndcg10"].value
    assert 1.0 < ratio.anchor_value <= ratio.value
    assert by_name["unseen.words.ndcg10"].value == 1 / math.log2(3)
    assert not any(key.startswith("blind.") for key in by_name)
    by_name = {f.figure: f for f in figures(rows, [*QUESTIONS, {"question": "c", "expected": ["x"], "blind": True}])}
    assert by_name["retrieval_quality.blind.words.ndcg10"].value == 1.0
    assert by_name["retrieval_quality.blind.worse.words_over_it"].goal == ">= 1.1"
    blind = [{"question": "c", "expected": ["x"], "blind": True}]
    by_name = {f.figure: f for f in figures(rows, blind, embedder="worse")}
    assert by_name["retrieval_quality.blind.worse.words_over_it"].goal == "", "an embedder is no rival"


@pytest.mark.slow
def test_the_weight_of_vectors_is_the_best_on_known_questions(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path, embedder=WordEmbedder())
    for name, text in (("right", "stripes of the zebra"), ("wrong", "zebrafish zebrafish"), ("other", "giraffe")):
        store.add_text(name, text)
    store.embed()
    questions = [{"question": "zebrafish", "expected": ["text:right"]}]
    unseen = {"question": "zebrafish", "expected": ["text:wrong"], "unseen": True}
    values = {f.figure: f.value for f in tune(store, [], [*questions, unseen], "m")}
    assert values["m.known.ndcg10_at_0"] == 0.0, "words alone find the other one only"
    assert store.weight == values["m.weight"] > 0.0
    assert values["m.known.ndcg10_at_0.8"] == max(values[key] for key in values if "known" in key)
    store.close()


def test_the_judged_questions_are_enough_of_each_kind_and_name_documents_once(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in QUESTIONS_FILE.read_text(encoding="utf-8").splitlines()]
    kinds = Counter(row["kind"] for row in rows)
    assert sum(kinds.values()) >= 300
    assert min(kinds.values()) >= 75
    assert sum("unseen" in row for row in rows) >= len(rows) // 3
    assert sum("blind" in row and "unseen" in row for row in rows) >= 60
    assert len({row["question"] for row in rows}) == len(rows)
    questions = read_questions([tmp_path])
    assert {e for row in questions for e in row["expected"]} <= {note.stem for note in NOTES.glob("*.md")}
    assert 200 < len(questions) < len(rows)


def test_a_rival_finds_the_passage() -> None:
    assert fts5(["zebra stripes", "a giraffe", "waves"])("giraffes?", 2) == [1]
