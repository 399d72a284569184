from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from documents.document import Citation
from knowledge.store import KnowledgeStore
from records.errors import DocumentError, KnowledgeError, UsageError

ROOT = Path(__file__).parents[3]


def note(folder: Path, name: str, body: str, **fields: str) -> Path:
    head = "".join(f"{key}: {value}\n" for key, value in fields.items())
    path = folder / f"{name}.md"
    path.write_text(f"---\n{head}---\n{body}\n" if head else body, encoding="utf-8")
    return path


def numbers(store: KnowledgeStore) -> set[int]:
    with closing(sqlite3.connect(store.folder / "knowledge.sqlite")) as db:
        return {row[0] for row in db.execute("SELECT number FROM chunks")}


def test_adding_again_changes_nothing(store: KnowledgeStore, tmp_path: Path) -> None:
    path = note(tmp_path, "a", "# Banks\nLDS has 32 banks.", title="LDS")
    (tmp_path / "b.md").touch()
    time.sleep(0.06)  # younger files are read again
    first = store.add([path, tmp_path / "b.md"])
    before = (store.folder / "knowledge.sqlite").read_bytes()
    second = store.add([tmp_path])
    assert [(a.title, a.chunks, a.status) for a in first[:1]] == [("LDS", 1, "added")]
    assert [(a.id, a.status) for a in second] == [(first[0].id, "unchanged"), ("", "skipped")]
    assert first[1].why == second[1].why and "is empty" in second[1].why
    assert (store.folder / "knowledge.sqlite").read_bytes() == before
    copy = shutil.copy(path, tmp_path / "copy.md")
    assert store.add([Path(copy)])[0].id == first[0].id
    assert len(store.documents()) == 1


def test_a_changed_file_replaces_only_its_changed_passages(store: KnowledgeStore, tmp_path: Path) -> None:
    parts = [f"# Part {i}\n" + f"sentence {i} about waves. " * 40 for i in range(4)]
    path = note(tmp_path, "a", "\n\n".join(parts), title="Waves")
    other = note(tmp_path, "b", "# Other\nAnother text.")
    store.add([path, other])
    before = numbers(store)
    parts[1] += "A giraffe passes."
    note(tmp_path, "a", "\n\n".join(parts), title="Waves")
    (added,) = store.add([path])
    assert (added.status, added.chunks) == ("replaced", 4)
    after = numbers(store)
    assert (len(before), len(after), len(before & after)) == (5, 5, 4)
    assert "giraffe" in store.search("giraffe", k=1)[0].text
    assert store.check() == []


def test_remove_by_a_beginning_of_the_id(store: KnowledgeStore, tmp_path: Path) -> None:
    one, two = store.add([note(tmp_path, "a", "giraffe"), note(tmp_path, "b", "zebra")])
    for identity, said in (("zzzz", "no document 'zzzz'"), ("", "no document ''")):
        with pytest.raises(DocumentError, match=said):
            store.remove(identity)
    assert [d.title for d in store.remove(one.id[:8])] == ["a"]
    assert [d.id for d in store.documents()] == [two.id]
    assert all(hit.document == two.id for hit in store.search("giraffe"))
    assert store.check() == []


def test_remove_by_a_place_however_it_is_written(
    store: KnowledgeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, link = tmp_path / "docs[1]", tmp_path / "link"
    docs.mkdir()
    link.symlink_to(docs)
    monkeypatch.chdir(docs)
    for place in ("a.md", "../docs[1]/a.md", str(docs), str(link), "../link/a.md", "../docs?1?/*.md", "."):
        note(docs, "a", "giraffe")
        store.add([docs])
        with pytest.raises(DocumentError, match="no document"):
            store.remove(f"{place}x")
        assert [d.title for d in store.remove(place)] == ["a"], place
    with pytest.raises(DocumentError, match="no document"):
        store.remove(" ")


def test_a_title_is_for_one_document(store: KnowledgeStore, tmp_path: Path) -> None:
    note(tmp_path, "a", "giraffe")
    assert store.add(tmp_path, Citation(title="One"))[0].title == "One"
    note(tmp_path, "b", "zebra")
    with pytest.raises(UsageError, match="a title is for one document, and 2 files were named"):
        store.add(tmp_path, Citation(title="One"))


def test_the_last_document_may_go_while_others_have_its_words(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "one zebra")])
    (last,) = store.add([note(tmp_path, "b", "two zebras")])
    store.remove(last.id)
    assert [hit.title for hit in store.search("zebra")] == ["a"]
    store.add([tmp_path / "b.md"])
    assert len(store.search("zebra")) == 2


def test_an_ambiguous_id_is_refused(store: KnowledgeStore, tmp_path: Path) -> None:
    ids = [store.add([note(tmp_path, f"n{i}", f"text {i}")])[0].id for i in range(17)]
    shared = next(i[0] for i in ids if sum(j[0] == i[0] for j in ids) > 1)
    with pytest.raises(DocumentError, match="give more of it"):
        store.remove(shared)
    assert len(store.documents()) == 17


def test_a_bad_file_is_skipped_and_listed_and_the_rest_comes_in(store: KnowledgeStore, tmp_path: Path) -> None:
    note(tmp_path, "a", "good text")
    (tmp_path / "b.md").write_bytes(b"\0\1")
    (tmp_path / "c.md").write_bytes(b"")
    found = store.add([tmp_path])
    assert [(a.title[-4:], a.status) for a in found] == [("a", "added"), ("b.md", "skipped"), ("c.md", "skipped")]
    assert "is binary" in found[1].why and "is empty" in found[2].why
    assert [d.title for d in store.documents()] == ["a"]
    assert [a.status for a in store.add([tmp_path])] == ["unchanged", "skipped", "skipped"]
    with pytest.raises(DocumentError, match=r"b\.md is binary"):
        store.add([tmp_path / "b.md"])


def test_a_folder_says_what_its_documents_do_not(store: KnowledgeStore, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    rule = docs / "documents.toml"
    rule.write_text('licence = "MIT"\narch = ["gfx942", "gfx90a"]\nsource = "The book"\n')
    (docs / "sub" / "documents.toml").write_text('license = "BSD"\nsize = 3\n')
    (docs / "a.md").write_text("zebra one")
    (docs / "sub" / "b.md").write_text("---\narch: sm_80\n---\nzebra two")

    def said() -> list[tuple[str, str, str]]:
        return sorted((d.source, d.licence, d.arch) for d in store.documents(mine=True))

    store.add([docs])
    assert said() == [("The book: docs/a.md", "MIT", "gfx942 gfx90a"), ("The book: docs/sub/b.md", "BSD", "sm_80")]
    assert {a.status for a in store.add([docs])} == {"unchanged"}
    rule.write_text('arch = "gfx942"')
    assert {a.status for a in store.add([docs])} == {"replaced"}
    assert said() == [("docs/a.md", "not stated", "gfx942"), ("docs/sub/b.md", "BSD", "sm_80")]
    store.add([docs / "a.md"], Citation(licence="Apache-2.0"))
    assert said()[0] == ("a.md", "Apache-2.0", "gfx942")
    rule.write_text("arch = ")
    assert sorted(a.status for a in store.add([docs])) == ["replaced", "replaced", "skipped"]
    assert said()[0] == ("docs/a.md", "not stated", "")
    rule.unlink()
    os.mkfifo(rule)
    assert sorted(a.status for a in store.add([docs])) == ["skipped", "unchanged", "unchanged"]


def test_arch_leaves_out_documents_for_other_gpus(store: KnowledgeStore, tmp_path: Path) -> None:
    for i in range(70):
        note(tmp_path, f"h{i}", f"matrix tiles in shared memory, recipe {i}", arch="sm_90a")
    note(tmp_path, "mine", "matrix things that are said in quite other words altogether", arch="gfx942", title="mine")
    note(tmp_path, "both", "matrix", arch="gfx942 sm_90a", title="both")
    note(tmp_path, "any", "matrix of any machine", title="any")
    store.add([tmp_path])
    query, fitting = "matrix tiles in shared memory", {"mine", "both", "any"}
    assert {hit.title for hit in store.search(query, k=5, arch="gfx942")} == fitting
    assert {hit.title for hit in store.search("matrix", k=5, arch="GFX942")} == fitting
    assert len(store.search(query, k=73)) == 73
    assert {hit.title for hit in store.search("matrix", arch="gfx1100")} == {"any"}


def test_a_gpu_may_be_named_as_it_is_sold(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "eland", arch="[MI300X, MI325X]"), note(tmp_path, "b", "eland", arch="sm_90")])
    assert {d.title: d.arch for d in store.documents()} == {"a": "gfx942", "b": "sm_90 sm_90a"}
    for arch, found in {"gfx942": "a", "mi300x": "a", "sm_90a": "b", "H200": "b", "sm_90": "b", "mi250": ""}.items():
        assert "".join(hit.title for hit in store.search("eland", arch=arch)) == found, arch


def test_a_question_must_say_something(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "text")])
    with pytest.raises(UsageError, match="not empty"):
        store.search("  ")
    assert store.search("?!") == []


def test_an_empty_store_answers_with_nothing(store: KnowledgeStore) -> None:
    assert store.search("anything") == [] and store.documents() == [] and store.check() == []
    assert store.rebuild() == 0


def test_unicode_is_stored_and_found(store: KnowledgeStore, tmp_path: Path) -> None:
    body = "# Überläufe 大きさ\nλέξη 🚀 naïve"
    store.add([note(tmp_path, "ü", body, title="Größe"), note(tmp_path, "b", "plain")])
    for query in ("U\u0308berla\u0308ufe", "大きさ", "ΛΈΞΗ", "NAÏVE"):
        assert store.search(query, k=1)[0].title == "Größe", query


def test_a_locked_store_refuses_writers_and_serves_readers(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "occupancy of waves")])
    code = (
        "import sqlite3, sys\n"
        f"db = sqlite3.connect({str(store.folder / 'knowledge.sqlite')!r}, isolation_level=None)\n"
        "db.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        with pytest.raises(KnowledgeError, match="locked: another process is writing"):
            store.add([note(tmp_path, "b", "zebra")])
        assert store.search("occupancy", k=1)[0].title == "a"
        holder.communicate("")
    assert [a.status for a in store.add([tmp_path / "b.md"])] == ["added"]


def test_a_reader_sees_what_another_process_has_added(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "occupancy of waves")])
    assert store.search("giraffes") == []
    writer = KnowledgeStore(store.folder, wait_s=0.0)
    writer.add([note(tmp_path, "b", "a giraffe in the registers")])
    writer.close()
    assert store.search("giraffe", k=1)[0].title == "b"
    assert store.check() == []


def test_threads_may_search_at_once(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, f"n{i}", f"animal {i} zebra{i}") for i in range(8)])
    store.close()
    found: list[str] = []

    def look(i: int) -> None:
        found.append(store.search(f"zebra{i}", k=1)[0].title)

    threads = [threading.Thread(target=look, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [f"n{i}" for i in range(8)]


def test_rebuild_derives_the_same_passages(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "# A\n" + "words about waves. " * 200), note(tmp_path, "b", "zebra")])
    before = store.search("waves", k=9)
    assert store.rebuild() == len(numbers(store)) > 2
    assert store.search("waves", k=9) == before
    assert numbers(store) == set(range(1, len(numbers(store)) + 1)), "they do not grow with each time"


def test_a_damaged_truth_is_named(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "text")])
    for path in store.folder.glob("knowledge.sqlite*"):
        path.write_bytes(b"this is no database" * 300)
    fresh = KnowledgeStore(store.folder)
    with pytest.raises(KnowledgeError, match="delete it and add"):
        fresh.search("text")
    assert len(fresh.check()) == 1


def test_a_damaged_document_is_named(store: KnowledgeStore, tmp_path: Path) -> None:
    store.add([note(tmp_path, "a", "text")])
    with closing(sqlite3.connect(store.folder / "knowledge.sqlite")) as db, db:
        db.execute("UPDATE documents SET body = x'00'")
    assert len(store.check()) == 1 and "delete it and add" in store.check()[0]
    with pytest.raises(KnowledgeError, match="delete it and add"):
        store.rebuild()
    assert store.search("text")[0].title == "a"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KnowledgeError, match="cannot be used"):
        KnowledgeStore(tmp_path / "file" / "store").documents()


def test_importing_knowledge_imports_neither_chroma_nor_numpy() -> None:
    code = (
        "import sys, knowledge.store, knowledge.embedder\n"
        "sys.exit(sorted({'chromadb', 'numpy', 'pydantic'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
