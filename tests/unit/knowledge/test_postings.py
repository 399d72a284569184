from __future__ import annotations

import math
import sqlite3

import numpy as np

from knowledge import postings
from knowledge.vocabulary import Vocabulary, tokens

TEXTS = {1: "lds bank conflicts and padding of lds rows", 2: "the lds is small", 3: "matrix cores multiply tiles"}


def add(db: sqlite3.Connection, number: int, text: str) -> None:
    words = Vocabulary()
    postings.add_segment(db, words, {number: words.terms([text])[0]})


def made(texts: dict[int, str], arch: str = "") -> sqlite3.Connection:
    """A database with each text in a segment of its own."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE chunks(number INTEGER PRIMARY KEY, document INTEGER, length INTEGER)")
    db.execute("CREATE TABLE documents(number INTEGER PRIMARY KEY, arch TEXT, uri TEXT)")
    for statement in postings.SCHEMA:
        db.execute(statement)
    for number, text in texts.items():
        db.execute("INSERT INTO chunks VALUES(?, ?, ?)", (number, number, len(tokens(text))))
        db.execute("INSERT INTO documents VALUES(?, ?, ?)", (number, arch if number == 1 else "", f"/d/{number}"))
        add(db, number, text)
    return db


def ranked(db: sqlite3.Connection, query: str, arch: str = "") -> list[tuple[int, float]]:
    facts = postings.read_facts(db, "")
    return postings.rank(db, tokens(query), facts, facts.allowed(arch), 10)


def test_bm25_prefers_the_rarer_and_more_frequent_word() -> None:
    db = made(TEXTS, arch="sm_90")
    assert [n for n, _ in ranked(db, "lds padding")] == [1, 2]
    assert [n for n, _ in ranked(db, "tensor cores")] == [3]
    assert [n for n, _ in ranked(db, "shared memory", arch="gfx942")] == [2]
    assert [n for n, _ in ranked(db, "shared memory", arch="SM_90")] == [1, 2]  # twice in a longer text
    assert ranked(db, "nothing of this") == []


def test_bm25_agrees_with_the_formula_over_any_segments() -> None:
    """Many segments, merged on the way, and passages that went: the scores are those of the plain formula."""
    draw = np.random.default_rng(3)
    texts = {n: " ".join(f"w{int(w)}" for w in draw.integers(0, 40, 5 + n % 11)) for n in range(1, 100)}
    db = made(texts)
    for gone in (7, 50, 99):
        db.execute("DELETE FROM chunks WHERE number = ?", (gone,))
        del texts[gone]
    lengths = {n: len(tokens(t)) for n, t in texts.items()}
    mean = sum(lengths.values()) / len(lengths)
    wanted: dict[int, float] = {}
    for term in tokens("w3 w5 w5 w11"):
        having = [n for n, t in texts.items() if term in tokens(t)]
        idf = math.log(1.0 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for n in having:
            count = tokens(texts[n]).count(term)
            norm = postings.K1 * (1 - postings.B + postings.B * lengths[n] / mean)
            wanted[n] = wanted.get(n, 0.0) + idf * count * (postings.K1 + 1) / (count + norm)
    best = sorted(wanted, key=lambda n: (-wanted[n], n))[:10]
    found = ranked(db, "w3 w5 w5 w11")
    assert np.allclose([s for _, s in found], [wanted[n] for n in best])
    assert {n for n, _ in found} == set(best)
    assert db.execute("SELECT COUNT(*) FROM segments").fetchone()[0] < 3 * postings.FAN
    db.execute("DELETE FROM chunks WHERE number < 90")
    for n in range(100, 140):
        add(db, n, "other")  # a merge without the entries that are gone
    assert not ranked(db, "w3") or min(n for n, _ in ranked(db, "w3")) >= 90


def test_facts_after_a_change_are_those_of_a_fresh_look() -> None:
    db = made(TEXTS)
    old = postings.read_facts(db, "1")
    db.execute("INSERT INTO chunks VALUES(6, 2, 9)")
    grown = postings.read_facts(db, "2", old)
    assert grown.lengths.tolist() == postings.read_facts(db, "2").lengths.tolist() and grown.lengths[6] == 9
    assert postings.read_facts(db, "2", grown).documents.tolist() == [-1, 1, 2, 3, -1, -1, 2]
    db.execute("DELETE FROM chunks WHERE number = 2")
    db.execute("INSERT INTO chunks VALUES(7, 1, 4)")
    assert postings.read_facts(db, "3", grown).lengths.tolist() == postings.read_facts(db, "3").lengths.tolist()


def test_a_word_that_only_goes_together_with_the_one_asked_for_counts_less() -> None:
    db = made({1: "the stall of a read", 2: "the latency of a read", 3: "the width of a read"})
    (best, high), (second, low) = ranked(db, "latency")
    assert (best, second) == (2, 1) and 0 < low < high / 2


def test_a_shipped_note_comes_before_a_page_and_a_history_after_it() -> None:
    db = made({1: "padding of lds rows", 2: "padding of lds rows", 3: "padding of lds rows"})
    db.execute("UPDATE documents SET uri = '/src/CHANGELOG.md' WHERE number = 1")
    db.execute("UPDATE documents SET uri = 'shipped:lds.md' WHERE number = 3")
    assert [n for n, _ in ranked(db, "lds padding")] == [3, 2, 1]


def test_passages_of_stop_words_alone_are_kept_and_not_found() -> None:
    db = made({1: "a", 2: "the"})
    assert db.execute("SELECT COUNT(*) FROM segments").fetchone()[0] == 0
    assert ranked(db, "lds") == []
