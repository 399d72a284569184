from __future__ import annotations

import math
import sqlite3
from collections import Counter

import numpy as np

from knowledge import postings
from knowledge.tokens import tokens

TEXTS = {1: "lds bank conflicts and padding of lds rows", 2: "the lds is small", 3: "matrix cores multiply tiles"}


def made(texts: dict[int, str], arch: str = "") -> sqlite3.Connection:
    """A database to which each text was added by itself."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE chunks(number INTEGER PRIMARY KEY, document INTEGER, length INTEGER)")
    db.execute(
        "CREATE TABLE documents(number INTEGER PRIMARY KEY, arch TEXT, uri TEXT, title TEXT, asks TEXT, source TEXT)"
    )
    db.execute(postings.SCHEMA)
    for number, text in texts.items():
        db.execute("INSERT INTO chunks VALUES(?, ?, ?)", (number, number, len(tokens(text))))
        row = (number, arch if number == 1 else "", f"/d/{number}", f"Text {number}", "")
        db.execute("INSERT INTO documents VALUES(?, ?, ?, ?, ?, 'a book')", row)
        postings.add(db, {number: tokens(text)})
    return db


def ranked(db: sqlite3.Connection, query: str, arch: str = "") -> list[tuple[int, float]]:
    facts = postings.read_facts(db, "")
    return postings.rank(db, tokens(query), facts, postings.allowed(db, facts, arch), 10)


def test_bm25_prefers_the_rarer_and_more_frequent_word() -> None:
    db = made(TEXTS, arch="sm_90")
    assert [n for n, _ in ranked(db, "lds padding")] == [1, 2]
    assert [n for n, _ in ranked(db, "tensor cores")] == [3]
    assert [n for n, _ in ranked(db, "shared memory", arch="gfx942")] == [2]
    assert [n for n, _ in ranked(db, "shared memory", arch="sm_90")] == [1, 2]  # twice in a longer text
    assert ranked(db, "nothing of this") == []


def test_bm25_agrees_with_the_formula_over_any_parts() -> None:
    """Passages of several parts, and some that went: the scores are those of the plain formula."""
    draw = np.random.default_rng(3)
    texts = {n: " ".join(f"w{int(w)}" for w in draw.integers(0, 40, 5 + n % 11)) for n in range(1, 100)}
    part = 1 << postings.PART_BITS
    texts = {n if n < 60 else n % 3 * part + n: text for n, text in texts.items()}
    db = made(texts)
    for gone in (7, 50, max(texts)):
        db.execute("DELETE FROM chunks WHERE number = ?", (gone,))
        del texts[gone]
    lengths = {n: len(tokens(t)) for n, t in texts.items()}
    mean = sum(lengths.values()) / len(lengths)
    wanted: dict[int, float] = {}
    for term, asked in Counter(tokens("w3 w5 w5 w11")).items():
        having = [n for n, t in texts.items() if term in tokens(t)]
        idf = math.log(1.0 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for n in having:
            count = tokens(texts[n]).count(term)
            norm = postings.K1 * (1 - postings.B + postings.B * lengths[n] / mean)
            wanted[n] = wanted.get(n, 0.0) + math.sqrt(asked) * idf * count * (postings.K1 + 1) / (count + norm)
    best = sorted(wanted, key=lambda n: (-wanted[n], n))[:10]
    found = ranked(db, "w3 w5 w5 w11")
    assert np.allclose([s for _, s in found], [wanted[n] for n in best])
    assert {n for n, _ in found} == set(best)
    (rows,) = db.execute("SELECT COUNT(*) FROM postings WHERE term = 'w3'").fetchone()
    assert rows == len({n >> postings.PART_BITS for n in texts if "w3" in tokens(texts[n])})
    db.execute("DELETE FROM chunks WHERE number < ?", (part,))
    postings.drop_dead(db)
    assert db.execute("SELECT MIN(part) FROM postings").fetchone()[0] > 0
    assert {n for n, _ in ranked(db, "w3")} and min(n for n, _ in ranked(db, "w3")) > part


def test_facts_are_those_of_passages_that_can_be_found() -> None:
    db = made(TEXTS)
    db.execute("INSERT INTO chunks VALUES(6, 2, 9)")
    db.execute("INSERT INTO chunks VALUES(7, 2, 0)")  # only says where others come from
    db.execute("DELETE FROM chunks WHERE number = 2")
    facts = postings.read_facts(db, "")
    assert np.flatnonzero(postings.allowed(db, facts, "")).tolist() == [1, 3, 6] and facts.living == 3
    assert facts.documents[:8].tolist() == [0, 1, 0, 3, 0, 0, 2, 0] and len(facts.documents) == 1 << postings.PART_BITS


def test_a_word_that_is_repeated_without_end_counts_as_often_as_can_be_kept() -> None:
    db = made({1: "lds " * 15, 2: "lds " * 400, 3: "a tile"})
    packed = [row[0] for row in db.execute("SELECT packed FROM postings WHERE term = 'lds'")]
    assert packed == [bytes([1 << 4 | 15, 0, 2 << 4 | 15, 0])]
    assert {n for n, _ in ranked(db, "lds")} == {1, 2}


def test_a_word_that_only_goes_together_with_the_one_asked_for_counts_less() -> None:
    db = made({1: "the stall of a read", 2: "the latency of a read", 3: "the width of a read"})
    (best, high), (second, low) = ranked(db, "latency")
    assert (best, second) == (2, 1) and 0 < low < high / 2


def test_a_shipped_note_comes_before_a_page_and_a_history_after_it() -> None:
    db = made({1: "padding of lds rows", 2: "padding of lds rows", 3: "padding of lds rows"})
    db.execute("UPDATE documents SET uri = '/src/CHANGELOG.md' WHERE number = 1")
    db.execute("UPDATE documents SET uri = 'shipped:lds.md' WHERE number = 3")
    assert [n for n, _ in ranked(db, "lds padding")] == [3, 2, 1]


def test_a_passage_rises_by_the_share_of_its_title_or_of_what_it_answers_that_is_asked() -> None:
    db = made({n: "padding of lds rows" for n in range(1, 5)})
    titles = {1: "rows of a table in general", 2: "rows in lds", 3: "other", 4: "text"}
    db.executemany("UPDATE documents SET title = ? WHERE number = ?", [(t, n) for n, t in titles.items()])
    db.execute("UPDATE documents SET asks = 'nothing of this' || char(10) || 'why is lds padded' WHERE number = 4")
    facts, terms = postings.read_facts(db, ""), tokens("which padding have rows in the lds?")
    ranking = postings.rank(db, terms, facts, postings.allowed(db, facts, ""), 10)
    score = ranking[0][1]
    assert {s for _, s in ranking} == {score}
    raised = dict(postings.favour(db, terms, facts, ranking))
    assert list(raised) == [2, 4, 1, 3]
    assert np.allclose([raised[2], raised[4], raised[3]], [score * (1 + postings.ASKED)] * 2 + [score])
    assert score < raised[1] < raised[2]


def test_no_title_raises_a_shipped_note_over_a_text_of_ones_own_with_the_same_words() -> None:
    db = made({1: "padding of lds rows", 2: "padding of lds rows", 3: "padding of lds rows and lds columns"})
    db.execute("UPDATE documents SET uri = 'shipped:lds.md', title = 'lds padding' WHERE number IN (1, 3)")
    db.execute("UPDATE documents SET uri = 'text:mine' WHERE number = 2")
    facts, terms = postings.read_facts(db, ""), tokens("lds padding")
    ranking = postings.rank(db, terms, facts, postings.allowed(db, facts, ""), 10)
    ours_before = [n for n, _ in ranking].index(2)
    order = [n for n, _ in postings.favour(db, terms, facts, ranking)]
    assert order.index(2) < order.index(1) and order.index(2) == ours_before


def test_passages_of_stop_words_alone_are_kept_and_not_found() -> None:
    db = made({1: "a", 2: "the"})
    assert db.execute("SELECT COUNT(*) FROM postings").fetchone()[0] == 0
    assert ranked(db, "lds") == []


def test_fusion_adds_shares_of_the_best_score_and_weighted_cosines() -> None:
    words, near = [(1, 8.0), (2, 6.0), (7, 1.0)], [(2, 1.0), (3, 0.75), (4, 0.5)]
    assert postings.fuse(words, near, 0.5) == [(2, 0.75 + 0.5), (1, 1.0), (3, 0.25), (7, 0.125), (4, 0.0)]
    assert [n for n, _ in postings.fuse(words, near, 0.1)] == [1, 2, 7, 3, 4], "a clear lead by words stays one"
    assert postings.fuse(words, [], 0.5) == [(1, 1.0), (2, 0.75), (7, 0.125)]
    assert postings.fuse([], [(9, 0.4), (3, 0.4)], 0.5) == [(3, 0.5), (9, 0.5)]


def test_one_document_does_not_fill_the_answer() -> None:
    ranking = [(n, 1.0 / n) for n in range(1, 7)]
    owners = np.array([9, 0, 0, 0, 0, 1, 2])
    facts = postings.Facts("", 6, owners, np.ones(7, np.float32), np.ones(7, np.float32))
    assert [n for n, _ in postings.spread(ranking, facts, 4)] == [1, 2, 5, 6]
    assert [n for n, _ in postings.spread(ranking, facts, 6)] == [1, 2, 5, 6, 3, 4]
    assert [n for n, _ in postings.spread(ranking[:4], facts, 3)] == [1, 2, 3]


def test_a_term_that_is_asked_again_counts_by_the_square_root() -> None:
    db = made(TEXTS)
    facts = postings.read_facts(db, "")

    def score(*terms: str) -> float:
        return postings.rank(db, terms, facts, postings.allowed(db, facts, ""), 1)[0][1]

    assert math.isclose(score(*["pad"] * 4), 2 * score("pad"), rel_tol=1e-6)


def test_a_word_that_no_passage_has_stands_for_one_that_differs_by_a_letter() -> None:
    db = made({**TEXTS, 4: "matrix"})
    facts = postings.read_facts(db, "")
    assert postings.mended(db, ["matrxi"], facts) == ["matrxi", "matrix"]  # two letters swapped
    assert [n for n, _ in ranked_as_meant(db, "mattrix")] == [n for n, _ in ranked(db, "matrix")]
    assert postings.mended(db, known := ["matrix", "lsd", "nothing", "12345"], facts) == known
    many = [f"matri{letter}" for letter in "abcdefghij"]
    assert len(postings.mended(db, many, facts)) == len(many) + postings.MOST_SLIPS


def ranked_as_meant(db: sqlite3.Connection, query: str) -> list[tuple[int, float]]:
    facts = postings.read_facts(db, "")
    return postings.rank(db, postings.mended(db, tokens(query), facts), facts, postings.allowed(db, facts, ""), 10)
