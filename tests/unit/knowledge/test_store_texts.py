"""Texts and LangChain documents into the store, and a retriever out of it; an older store; a writer that is killed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from langchain_core.documents import Document

from documents.document import Citation
from knowledge.embedder import EmbedderError, EndpointEmbedder, checked
from knowledge.intake import Added
from knowledge.store import KnowledgeStore
from records.errors import DocumentError, KnowledgeError, UsageError
from tests.support.embedding_endpoint import EmbeddingEndpoint

ROOT = Path(__file__).parents[3]


def statuses(store: KnowledgeStore, documents: list[Document]) -> list[str]:
    outcomes = list[Added]()
    store.add_documents(documents, outcomes.append)
    return [outcome.status for outcome in outcomes]


def test_a_text_is_replaced_under_its_name(store: KnowledgeStore) -> None:
    assert store.add_text("tile", "Tiles of 128", Citation(licence="MIT", arch="gfx942")).status == "added"
    assert store.add_text("tile", "Tiles of 256", Citation(licence="MIT")).status == "replaced"
    (document,) = store.documents(mine=True)
    assert (document.title, document.licence, document.arch, document.uri) == ("tile", "MIT", "", "text:tile")
    with pytest.raises(DocumentError, match="is empty"):
        store.add_text("bad", " ")
    assert len(store.documents()) == 1


def test_langchain_documents_go_in_and_come_out(store: KnowledgeStore) -> None:
    made = [
        Document("Zebra padding", metadata={"source": "a.pdf", "page": 1, "license": "MIT", "arch": "sm_90"}),
        Document("Zebra tiles", metadata={"source": "a.pdf", "page": 2, "tags": ["lds", "tile"]}),
        Document("Giraffe"),
    ]
    assert statuses(store, made) == ["added"] * 3
    assert statuses(store, made) == ["unchanged"] * 3
    found = store.as_retriever(k=2, arch="gfx942").invoke("zebra")
    assert [(d.page_content, d.metadata["source"]) for d in found] == [("Zebra tiles", "a.pdf")]
    assert found[0].id == store.add_documents(made)[1] and found[0].metadata["tags"] == ["lds", "tile"]


def test_the_pieces_that_a_splitter_makes_of_one_page_are_all_kept(store: KnowledgeStore) -> None:
    pieces = [Document(f"zebra {n}", metadata={"source": "a.txt"}) for n in range(3)]
    store.add_documents(pieces[:2])
    assert statuses(store, pieces[1:]) == ["unchanged", "added"]
    assert sorted(d.page_content for d in store.as_retriever().invoke("zebra")) == ["zebra 0", "zebra 1", "zebra 2"]
    store.add_documents([Document("zebra 4", id="mine"), Document("zebra 5", id="mine")])
    assert [d.title for d in store.documents(mine=True)] == ["a", "a", "a", "mine"]


def test_an_empty_langchain_document_is_skipped_and_what_is_none_is_refused(store: KnowledgeStore) -> None:
    pages = [Document(f"Zebra {n}", metadata={"source": "a.pdf", "page": n}) for n in (1, 3)]
    pages.insert(1, Document(" ", metadata={"source": "a.pdf", "page": 2}))
    found = list[Added]()
    assert len(store.add_documents(pages, found.append)) == 2
    assert [a.status for a in found] == ["added", "skipped", "added"] and "a.pdf#2 is empty" in found[1].why
    with pytest.raises(DocumentError, match="is empty"):
        store.add_documents(pages[1:2])
    for odd in (["text"], [None], "text"):
        with pytest.raises(UsageError, match="a page_content, which is text"):
            store.add_documents(odd)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a list of LangChain's, not Document"):
        store.add_documents(pages[0])  # type: ignore[arg-type]
    with pytest.raises(DocumentError, match="the document b is empty"):
        store.add_documents([Document("", metadata={"source": "b"})])
    assert len(store.documents()) == 2


def test_a_passage_that_only_says_where_others_come_from_is_not_found(store: KnowledgeStore) -> None:
    body = "# Zebra\n\nStripes.\n\n## Provenance\n\nMeasured on a horse. Confidence: high\n"
    store.add_text("z", body)
    store.add_text("farm", "# Farm\n\n## Provenance\n\nThe horse is from here.")
    assert [h.title for h in store.search("horse")] == ["Farm"]
    assert [h.section for h in store.search("stripes")] == ["Zebra"]


def test_a_store_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as db, db:
        db.executescript(
            "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
            "CREATE TABLE withheld(uri TEXT PRIMARY KEY);"
            "CREATE TABLE documents(number INTEGER PRIMARY KEY, id TEXT UNIQUE, uri TEXT UNIQUE, sha256 TEXT,"
            " title TEXT, source TEXT, licence TEXT, arch TEXT, tags TEXT, body TEXT, added_at TEXT);"
            "CREATE TABLE chunks(number INTEGER PRIMARY KEY, id TEXT, ordinal INTEGER, section TEXT, document INTEGER,"
            " text TEXT, length INTEGER);"
            "CREATE TABLE postings(term TEXT, chunk INTEGER, count INTEGER, PRIMARY KEY(term, chunk)) WITHOUT ROWID;"
            "CREATE TABLE vectors(chunk INTEGER PRIMARY KEY, embedder TEXT, vector BLOB);"
            "INSERT INTO meta VALUES('derived', 'old'), ('shipped', 'x');"
            "INSERT INTO withheld VALUES('shipped:scan.md');"
            "INSERT INTO documents VALUES(1, 'abc', '/a.md', 's', 'Zebra', 'a book', 'MIT', 'gfx942', 'x y',"
            " 'Stripes of a zebra', '2026-01-01');"
            "INSERT INTO chunks VALUES(1, 'c', 0, '', 1, 'Stripes of a zebra', 4);"
            "INSERT INTO vectors VALUES(1, 'hash.1', x'0000803f');"
        )
    store = KnowledgeStore(tmp_path)
    (hit,) = store.search("zebra", arch="gfx942")
    assert (hit.document, hit.title, hit.source, hit.licence) == ("abc", "Zebra", "a book", "MIT")
    assert store.documents()[0].tags == ("x", "y") and store.check() == []
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as db:
        assert db.execute("SELECT COUNT(*) FROM vectors").fetchone() == (0,)
    store.ensure_shipped()
    assert store.rebuild() > 1 and store.search("zebra", k=1)[0].text == hit.text
    assert "shipped:scan.md" not in [d.uri for d in store.documents()]
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(KnowledgeError, match="newer version"):
        KnowledgeStore(tmp_path).documents()


ADD = (
    "import sys; from pathlib import Path; from knowledge import intake, store\n"
    "store.batches = lambda items: intake.batches(items, 0.01)\n"  # many commits, so that the other writer gets between
    "store.KnowledgeStore(Path(sys.argv[1])).add([Path(sys.argv[2])], report=lambda a: print(a.status, flush=True))"
)


def writer(folder: Path, tree: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", ADD, str(folder), str(tree)], cwd=ROOT, stdout=-1, text=True)


def tree(folder: Path, files: int) -> Path:
    folder.mkdir()
    for i in range(files):
        (folder / f"n{i}.md").write_text(f"# Note {i}\n\nzebra{i} " + "words " * 30)
    return folder


def test_a_killed_writer_keeps_what_is_in_and_the_next_completes_it(tmp_path: Path) -> None:
    notes = tree(tmp_path / "notes", 400)
    with writer(tmp_path / "store", notes) as first:
        assert first.stdout and first.stdout.readline() == "added\n"
        first.send_signal(signal.SIGKILL)
    store = KnowledgeStore(tmp_path / "store")
    kept = len(store.documents())
    assert kept > 0 and store.check() == []
    outcomes = [a.status for a in store.add([notes])]
    assert outcomes.count("unchanged") == kept and len(store.documents()) == 400
    assert store.search("zebra399")[0].title == "Note 399"


@pytest.mark.slow
def test_two_writers_at_once_store_each_document_once(tmp_path: Path) -> None:
    notes = tree(tmp_path / "notes", 120)
    with writer(tmp_path / "store", notes) as one, writer(tmp_path / "store", notes) as two:
        said = one.communicate()[0] + two.communicate()[0]
        assert (one.returncode, two.returncode) == (0, 0)
    store = KnowledgeStore(tmp_path / "store")
    assert said.count("added") == len(store.documents()) == 120
    assert store.check() == [] and {h.title for h in store.search("zebra7")} >= {"Note 7"}


def test_what_is_given_counts_as_a_change(store: KnowledgeStore, tmp_path: Path) -> None:
    notes = tree(tmp_path / "notes", 2)
    for given, status in ((None, "added"), (None, "unchanged"), (Citation(arch="sm_90"), "replaced")):
        assert {a.status for a in store.add([notes], given)} == {status}
    assert store.search("zebra1", arch="gfx942") == []


OLDER = "import documents.document; documents.document.READER -= 1\n" + ADD


def test_what_an_older_reader_has_read_is_read_again(store: KnowledgeStore, tmp_path: Path) -> None:
    notes = tree(tmp_path / "notes", 2)
    subprocess.run([sys.executable, "-c", OLDER, str(store.folder), str(notes)], cwd=ROOT, check=True)
    assert [a.status for _ in "ab" for a in store.add([notes])] == ["replaced"] * 2 + ["unchanged"] * 2


@pytest.mark.slow
def test_an_endpoint_is_asked_for_vectors(tmp_path: Path) -> None:
    with EmbeddingEndpoint() as server:
        embedder = EndpointEmbedder(server.address, "tiny", "key-of-mine", retries=0)
        assert np.allclose(checked(embedder, ["a", "b"]), [[0.6, 0.8]] * 2) and embedder.tokens == 2
        assert np.allclose(checked(embedder, ["mixed", "b"]), [[0.8, 0.6], [0.6, 0.8]])
        assert np.allclose(checked(embedder, ["plain", "b"]), [[0.6, 0.8]] * 2)
        with pytest.raises(EmbedderError, match="tiny at 127"):
            checked(embedder, ["bad"])
        with pytest.raises(EmbedderError, match=r"no such key: Bearer \.\.\."):
            checked(embedder, ["key"])
    with pytest.raises(EmbedderError, match="gave no vectors"):
        embedder.embed(["a"])
