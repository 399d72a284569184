from __future__ import annotations

import os
from pathlib import Path

import pytest

from knowledge.documents import MAX_BYTES, clean, find_files, read_text
from records.errors import DocumentError


def write(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_front_matter_gives_the_citation(tmp_path: Path) -> None:
    head = "---\ntitle: 'LDS'\nsource: a paper\nlicence: MIT\narch: gfx942, SM_90a\ntags: [lds, banks]\n---"
    text = read_text(write(tmp_path / "a.md", f"{head}\n# Banks\ntext"))
    assert (text.title, text.source, text.licence) == ("LDS", "a paper", "MIT")
    assert (text.arch, text.tags) == ("gfx942 sm_90a", ("lds", "banks"))
    assert text.body == "# Banks\ntext"


def test_without_front_matter_the_first_heading_is_the_title(tmp_path: Path) -> None:
    text = read_text(write(tmp_path / "a.md", "intro\n\n# The Title #\nbody"))
    assert (text.title, text.source, text.licence, text.arch) == ("The Title", "a.md", "not stated", "")
    assert read_text(write(tmp_path / "plain.txt", "words only")).title == "plain"


def test_a_rule_at_the_top_is_not_front_matter(tmp_path: Path) -> None:
    assert "A sentence" in read_text(write(tmp_path / "a.md", "---\nA sentence without a field\n---\nmore")).body


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"kernel\0code", "is binary"),
        (b"\xff\xfe\x00bad", "is not UTF-8"),
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"---\ntitle: x\n---\n\n", "is empty"),
        (b"x" * (MAX_BYTES + 1), "larger than 5 MB"),
    ],
)
def test_what_is_not_a_document_is_refused_in_one_sentence(tmp_path: Path, data: bytes, said: str) -> None:
    path = write(tmp_path / "bad.md", data)
    with pytest.raises(DocumentError, match=said) as caught:
        read_text(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_are_searched_through_and_hidden_places_are_not(tmp_path: Path) -> None:
    wanted = [write(tmp_path / name, "x") for name in ("a.md", "sub/b.TXT", "sub/deep/c.rst")]
    for name in (".git/d.md", "sub/e.py", ".f.md"):
        write(tmp_path / name, "x")
    assert sorted(find_files([tmp_path, tmp_path / "a.md"])) == sorted(wanted)


def test_missing_empty_and_odd_paths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for path, said in (("none.md", "no file or folder"), ("empty", "holds no document"), ("pipe", "neither")):
        with pytest.raises(DocumentError, match=said):
            find_files([tmp_path / path])
    with pytest.raises(DocumentError, match="no document was named"):
        find_files([])


def test_invisible_characters_are_dropped_and_letters_kept() -> None:
    assert clean("a\x1b[31mb\u202ec\u200b\r\nd\te\rf") == "a[31mbc\nd\te\nf"
    assert clean("Größe 大きさ 🚀") == "Größe 大きさ 🚀"
