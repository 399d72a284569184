"""Copies: a document that several files, or several texts, have in common."""

from __future__ import annotations

import time
from pathlib import Path

from documents.document import Citation
from knowledge.intake import Added, Item, batches
from knowledge.store import KnowledgeStore


def note(folder: Path, name: str, body: str) -> None:
    (folder / f"{name}.md").write_text(body)


def test_slow_files_are_committed_as_they_come() -> None:
    items = [Item(name, "m", Added("", name, 0, "skipped", "why")) for name in "abc"]
    assert [len(batch) for batch in batches(items)] == [3]
    assert [len(batch) for batch in batches(items, most_s=0.0)] == [1, 1, 1]


def test_what_a_file_was_stays_where_another_has_it_still(store: KnowledgeStore, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in "abc":
        note(docs, name, "giraffe")
    time.sleep(0.06)  # younger files are read again
    assert [a.status for a in store.add([docs / "b.md", docs])] == ["added", "unchanged", "unchanged"]
    note(docs, "b", "zebra")
    store.add([docs])
    assert [len(store.search(word)) for word in ("giraffe", "zebra")] == [1, 1]
    store.add([docs])
    assert sorted(d.source for d in store.documents()) == ["docs/a.md", "docs/b.md"]
    assert [Path(d.uri).name for d in store.documents() if d.source == "docs/a.md"] == ["a.md"]


def test_a_copy_is_stored_once_whatever_is_said_of_both(store: KnowledgeStore, tmp_path: Path) -> None:
    for name in "abc":
        note(tmp_path, name, "giraffe")
    time.sleep(0.06)  # younger files are read again
    store.add([tmp_path / "b.md"])
    for given in (None, Citation(arch="gfx942"), Citation(arch="sm_90"), None, None):
        store.add([tmp_path], given)
        assert len(store.documents()) == len(store.search("giraffe")) == 1 and store.check() == []
    note(tmp_path, "d", "zebra")
    store.add([tmp_path])
    assert store.search("zebra")[0].title == "d"
    note(tmp_path, "d", "giraffe")
    assert {a.status for a in store.add([tmp_path])} == {"unchanged"}
    assert [d.title for d in store.documents()] == ["a"] and store.search("zebra") == []


def test_a_text_stays_under_its_name_where_another_had_the_same(store: KnowledgeStore) -> None:
    assert [store.add_text(name, "giraffe").status for name in "ab"] == ["added", "unchanged"]
    assert store.add_text("a", "zebra").status == "replaced"
    assert {d.uri for d in store.documents()} == {"text:a", "text:b"} and store.search("giraffe")
    assert store.add_text("b", "giraffe").status == "replaced" and store.search("giraffe")[0].title == "b"
