from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from knowledge.dense import BATCH, POINTING
from knowledge.embedder import EmbedderError
from knowledge.store import KnowledgeStore
from tests.unit.knowledge.fakes import WordEmbedder

TEXTS = {"a": "occupancy of waves in flight", "b": "zebra stripes everywhere", "c": "giraffe necks are long"}


def filled(folder: Path, embedder: WordEmbedder) -> KnowledgeStore:
    store = KnowledgeStore(folder, embedder=embedder, wait_s=0.0)
    for name, text in TEXTS.items():
        store.add_text(name, text)
    store.embed()
    return store


def rows(folder: Path, table: str) -> int:
    with closing(sqlite3.connect(folder / "knowledge.sqlite")) as db:
        return int(db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


@pytest.mark.slow
def test_a_word_nobody_wrote_is_found_by_its_vector(tmp_path: Path) -> None:
    store = filled(tmp_path, WordEmbedder())
    assert store.search("occupansee", k=1)[0].title == "a"  # no such word: only the vectors can find it
    assert list(tmp_path.glob("chroma/*/chroma.sqlite3"))
    store.close()
    assert KnowledgeStore(tmp_path).search("occupansee") == []


def test_a_vector_is_bought_once(tmp_path: Path) -> None:
    first = WordEmbedder()
    store = filled(tmp_path, first)
    assert len(first.texts) == 3
    assert store.embed() == 0
    (gone,) = store.remove(next(d.id for d in store.documents() if d.title == "a"))
    assert store.search("occupansee", k=1)[0].title != "a"
    store.add_text("a", TEXTS["a"])
    assert (store.embed(), store.rebuild(), store.embed()) == (0, 3, 0)
    assert store.search("occupansee", k=1)[0].document == gone.id
    assert len(first.texts) == 3 + 1  # the question
    store.close()


def test_a_store_of_the_third_version_keeps_its_passages_and_their_places_among_the_vectors(tmp_path: Path) -> None:
    filled(tmp_path, WordEmbedder()).close()
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as db, db:
        db.execute("ALTER TABLE chunks ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0")
        db.execute("ALTER TABLE documents DROP COLUMN asks")
        db.execute("CREATE TABLE placed(embedder TEXT, chunk INTEGER)")
        db.execute("PRAGMA user_version = 3")
        before = db.execute("SELECT number, id FROM chunks").fetchall()
    store = KnowledgeStore(tmp_path, embedder=WordEmbedder(), wait_s=0.0)
    assert store.search("occupansee", k=1)[0].title == "a"
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as db:
        assert db.execute("SELECT number, id FROM chunks").fetchall() == before
    store.add_text("d", "hippopotamus")
    assert store.embed() == 1 and store.search("hippoupotamoos", k=1)[0].title == "d"
    store.close()


def test_vectors_of_two_embedders_live_apart(tmp_path: Path) -> None:
    store = filled(tmp_path, WordEmbedder())
    store.close()
    other = filled(tmp_path, WordEmbedder("other", 64))
    assert other.search("occupansee", k=1)[0].title == "a"
    other.close()
    plain = KnowledgeStore(tmp_path)
    plain.add_text("d", "a fourth")
    assert rows(tmp_path, "vectors") == 6
    again = WordEmbedder()
    store = KnowledgeStore(tmp_path, embedder=again)
    assert store.check() == ["1 passages have no vector yet; `knowledge rebuild` buys them"]
    assert store.embed() == 1 and again.texts == ["d\n\na fourth"]
    store.close()


def test_a_failing_embedder_leaves_what_was_bought_and_search_by_words(tmp_path: Path) -> None:
    weak = WordEmbedder(fails_at=2)
    store = KnowledgeStore(tmp_path, embedder=weak, wait_s=0.0)
    store.add_documents(Document(f"text {i} zebra{i}", id=f"n{i}") for i in range(BATCH + 5))
    with pytest.raises(EmbedderError, match="away"):
        store.embed()
    assert rows(tmp_path, "vectors") == BATCH
    assert store.search("zebra3", k=1)[0].title == "n3"
    calls = weak.calls
    assert store.search("zebra4", k=1)[0].title == "n4" and weak.calls == calls  # one that fails may take long
    weak.fails_at = 10**9
    assert store.embed() == 5
    assert store.search("zebra5", k=1)[0].title == "n5" and weak.calls == calls + 2
    store.close()


def test_a_model_of_another_size_under_the_same_name_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, WordEmbedder()).close()
    store = KnowledgeStore(tmp_path, embedder=WordEmbedder(dimension=8), wait_s=0.0)
    store.add_text("d", "more")
    with pytest.raises(EmbedderError, match="now gives 8 numbers, not 32"):
        store.embed()
    assert store.search("giraffe", k=1)[0].title == "c"  # by words
    store.close()


ANOTHER = """
import sys
from knowledge.store import KnowledgeStore
from tests.unit.knowledge.fakes import WordEmbedder
store = KnowledgeStore(sys.argv[1], embedder=WordEmbedder())
store.add_text("d", "hippopotamus")
input()
store.embed()
store.close()
"""


@pytest.mark.long
def test_what_another_program_places_is_found_by_one_that_has_searched(tmp_path: Path) -> None:
    store = filled(tmp_path, WordEmbedder())
    command = [sys.executable, "-c", ANOTHER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as other:
        while store.search("hippopotamus", k=1)[0].text != "hippopotamus":
            time.sleep(0.05)
        other.communicate("\n")
    assert other.returncode == 0
    assert store.search("hippoupotamoos", k=1)[0].title == "d"
    store.close()


@pytest.mark.parametrize("answer", ["abc", None, [[1.0], [1.0, 2.0]], [[float("nan")] * 32]])
def test_an_answer_that_is_no_list_of_vectors_is_refused_and_words_alone_decide(tmp_path: Path, answer: object) -> None:
    embedder = WordEmbedder()
    store = filled(tmp_path, embedder)
    embedder.answer = answer
    assert store.search("zebra", k=1)[0].title == "b"
    store.add_text("d", "more")
    with pytest.raises(EmbedderError, match="the embedder words gave"):
        store.embed()
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["gone", "empty", "killed"])
def test_a_lost_collection_is_made_again_by_who_searches_next(tmp_path: Path, damage: str) -> None:
    first = WordEmbedder()
    filled(tmp_path, first).close()
    (chroma,) = tmp_path.glob("chroma/*/chroma.sqlite3")
    if damage == "gone":
        shutil.rmtree(chroma.parent)
    elif damage == "empty":
        chroma.write_bytes(b"")
    else:
        (chroma.parent / "epoch").unlink()
    store = KnowledgeStore(tmp_path, embedder=WordEmbedder(), wait_s=0.0)
    assert len(store.check()) == (damage != "empty")
    if damage == "empty":  # what cannot be opened stays until it is asked for
        assert store.search("occupansee") == [] and store.search("giraffe", k=1)[0].title == "c"
        store.rebuild()
    assert store.search("occupansee", k=1)[0].title == "a"
    store.add_text("d", "more")
    assert store.embed() == 1 and store.search("occupansee", k=1)[0].title == "a"
    assert len(list(tmp_path.glob("chroma/*/epoch"))) == 1 and store.check() == []
    store.close()


def test_while_another_process_writes_words_alone_decide(tmp_path: Path) -> None:
    filled(tmp_path, WordEmbedder()).close()
    store = KnowledgeStore(tmp_path, embedder=WordEmbedder(), wait_s=0.0)
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert store.search("occupansee") == [] and store.search("giraffe", k=1)[0].title == "c"
    assert store.search("occupansee", k=1)[0].title == "a"
    store.close()


@pytest.mark.slow
def test_a_vector_of_zeros_is_near_to_nothing(tmp_path: Path) -> None:
    class Partly(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            return super().embed(texts) * [["zebra" not in text] for text in texts]

    store = filled(tmp_path, Partly())
    assert store.embed() == 0 and store.check() == []  # they are paid for and not asked for again
    assert "b" in [hit.title for hit in store.search("occupansee everywhere")]  # by its word
    assert "b" not in [hit.title for hit in store.search("occupansee")]
    shutil.rmtree(tmp_path / "chroma")  # made again, too
    again = KnowledgeStore(tmp_path, embedder=Partly())
    assert "b" not in [hit.title for hit in again.search("occupansee")]
    assert [hit.title for hit in again.search("zebra")] == ["b"]  # a question of zeros: words alone


def test_an_embedder_that_raises_leaves_search_by_words(tmp_path: Path) -> None:
    class Faulty(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            raise KeyError("no such model")

    store = KnowledgeStore(tmp_path, embedder=Faulty())
    store.add_text("a", TEXTS["a"])
    with pytest.raises(EmbedderError, match="KeyError: 'no such model'"):
        store.embed()
    assert [hit.title for hit in store.search("waves")] == ["a"]


def test_placing_a_few_passages_reads_their_vectors_alone(tmp_path: Path) -> None:
    filled(tmp_path, WordEmbedder()).close()
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as db:
        plan = db.execute(
            f"EXPLAIN QUERY PLAN SELECT c.number {POINTING} AND c.number IN (SELECT value FROM json_each(?))",
            ("an id", "[1]"),
        ).fetchall()
    read = [row[3] for row in plan if row[3].split()[1] in ("c", "v")]
    assert [said.split()[:2] for said in read] == [["SEARCH", "c"], ["SEARCH", "v"]]
    assert "embedder=? AND id=?" in read[1]
