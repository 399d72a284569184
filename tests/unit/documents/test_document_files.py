from __future__ import annotations

import os
from pathlib import Path

import pytest

from documents.document_files import DocumentFile, find_files
from knowledge.store import KnowledgeStore
from records.errors import DocumentError


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_folders_are_searched_through_and_hidden_and_built_places_are_not(tmp_path: Path) -> None:
    wanted = [write(tmp_path / name) for name in ("a.md", "sub/b.TXT", "sub/deep/c.rst", "k.hip", "p.PDF")]
    for name in (".git/d.md", "sub/e.png", ".f.md", "_build/g.html", "CMakeLists.txt"):
        write(tmp_path / name)
    assert sorted(Path(f.path) for f in find_files([tmp_path, tmp_path / "a.md"])) == sorted(wanted)
    assert [f.source for f in find_files([tmp_path / "sub"])] == ["sub/b.TXT", "sub/deep/c.rst"]


def test_patterns_are_expanded(tmp_path: Path) -> None:
    wanted = [write(tmp_path / name) for name in ("sub/b.md", "sub/deep/c.md")]
    write(tmp_path / "sub/deep/d.txt")
    assert [Path(f.path) for f in find_files([tmp_path / "**" / "*.md"])] == wanted


def test_missing_empty_and_odd_paths_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in (("none.md", "no file or folder"), ("a" * 300, "too long"), ("pipe", "neither")):
        with pytest.raises(DocumentError, match=said):
            find_files([tmp_path / path])
    with pytest.raises(DocumentError, match="no document was named"):
        find_files([])
    with pytest.raises(DocumentError, match="a path is empty"):
        find_files([""])


def test_a_folder_without_documents_is_listed_beside_others(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path / "store")
    write(tmp_path / "docs" / "a.md")
    write(tmp_path / "pictures" / "b.png")
    found = store.add([tmp_path / "docs", tmp_path / "pictures"])
    assert [a.status for a in found] == ["added", "skipped"] and "holds no document" in found[1].why
    with pytest.raises(DocumentError, match="holds no document"):
        store.add(tmp_path / "pictures")


def test_what_is_no_file_in_a_folder_is_listed(tmp_path: Path) -> None:
    write(tmp_path / "a.md")
    os.mkfifo(tmp_path / "b.md")
    (tmp_path / "c.md").symlink_to("gone.md")
    found = find_files([tmp_path])
    assert [(Path(f.path).name, f.why) for f in found if f.why] == [
        ("b.md", "is no file, or a link to none"),
        ("c.md", "is no file, or a link to none"),
    ]


def test_a_link_out_of_the_folder_is_listed_and_not_read(tmp_path: Path) -> None:
    write(tmp_path / "secret.md")
    inside = write(tmp_path / "docs" / "a.md")
    (tmp_path / "docs" / "b.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "docs" / "c.md").symlink_to(inside)
    (tmp_path / "docs" / "d.md").symlink_to("d.md")
    (tmp_path / "docs" / "loop").symlink_to(tmp_path / "docs")
    found = find_files([tmp_path / "docs"])
    assert [(Path(f.path).name, bool(f.why)) for f in found] == [("a.md", False), ("b.md", True), ("d.md", True)]
    assert "cannot be read" in found[2].why


def test_a_mark_changes_with_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md")

    def mark() -> str:
        (named,), (inside,) = find_files([path]), find_files([tmp_path])
        assert named.mark == inside.mark and named.changed_ns == path.stat().st_ctime_ns
        return named.mark

    marks = {mark()}
    for ns in (10**18, 10**18 + 1):
        os.utime(path, ns=(ns, ns))
        marks.add(mark())
    path.write_bytes(path.read_bytes()[::-1])  # as long as before
    os.utime(path, ns=(ns, ns))  # and as old
    assert len({*marks, mark()}) == 4


@pytest.mark.parametrize(
    ("changed_ns", "after_ns", "is_settled"),
    [
        (10**18 + 1, 0, False),  # in the tick of the write
        (10**18 + 1, 100_000_000, True),
        (10**18, 100_000_000, False),  # where times are whole seconds
        (10**18, 2 * 10**9, True),
        (10**18 + 1, -(10**9), False),  # by a clock that is ahead
    ],
)
def test_a_file_written_a_moment_ago_may_change_unseen(changed_ns: int, after_ns: int, is_settled: bool) -> None:
    assert DocumentFile("a", "a", "m", changed_ns).is_settled(changed_ns + after_ns) == is_settled


def test_a_name_that_is_no_text_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.md")).write_text("eland")
    (found,) = find_files([tmp_path])
    assert found.uri == f"{tmp_path}/\\udcff.md"
    store = KnowledgeStore(tmp_path / "store")
    assert [a.status for a in store.add([tmp_path])] == ["added"]
    assert [h.title for h in store.search("eland")] == ["\\udcff"]
    write(tmp_path / "two\nlines.md", "")
    assert [a.why.count("\n") for a in store.add([tmp_path]) if a.status == "skipped"] == [0]


def test_an_address_is_no_path() -> None:
    with pytest.raises(DocumentError, match=r"https://example\.org/page\.html is an address, no path; save the page"):
        find_files(["https://example.org/page.html"])
