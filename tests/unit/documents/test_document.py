from __future__ import annotations

from pathlib import Path

import pytest

from documents.document import Text
from documents.encodings import clean, decode
from documents.reader import DocumentReader
from records.errors import DocumentError


def read_text(path: Path) -> Text:
    with DocumentReader() as reader:
        return reader.read(path)


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
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"---\ntitle: x\n---\n\n", "is empty"),
    ],
)
def test_what_is_not_a_document_is_refused_in_one_sentence(tmp_path: Path, data: bytes, said: str) -> None:
    path = write(tmp_path / "bad.md", data)
    with pytest.raises(DocumentError, match=said) as caught:
        read_text(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_invisible_characters_are_dropped_and_letters_kept() -> None:
    assert clean("a\x1b[1;31mb\x1b[0m\x1b\u202ec\u200b\r\nd\te\rf") == "abc\nd\te\nf"
    assert clean("Größe 大きさ 🚀") == "Größe 大きさ 🚀"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8-sig", "Größe der Kacheln 大"),
        ("utf-16", "Größe der Kacheln 大"),
        ("utf-16-le", "Größe der Kacheln, und so weiter"),
        ("utf-32", "Größe der Kacheln 大"),
        ("utf-16-be", "Größe der Kacheln, und so weiter"),
        ("gb18030", "共享内存的存储体冲突会使访问串行化, 因此填充是必要的. " * 4),
        ("cp1251", "Конфликты банков разделяемой памяти замедляют чтение, поэтому строки дополняют. " * 4),
        ("latin-1", "Die Größe der Kacheln hängt von den Bänken ab, über die gelesen wird."),
    ],
)
def test_text_is_read_in_whichever_encoding_it_is(encoding: str, said: str) -> None:
    assert clean(decode(Path("a.txt"), said.encode(encoding))) == said


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("shift_jis", '<html><meta charset="Shift_JIS"><title>バンク衝突</title>'),
        ("iso8859-2", "# -*- coding: iso-8859-2 -*-\n# Wielkość płytki: łączne żądania"),
        ("euc-jp", '<?xml version="1.0" encoding="EUC-JP"?><p>バンク</p>'),
        ("cp1252", "encoding: punycode is one of Python's, which reads tables for café and naïve"),
        ("cp1252", "charset=none-such: über"),
        ("cp1252", "charset=shift_jis was wrong for the \x81\x3f of Größe".replace("\x81", "ÿ")),
    ],
)
def test_text_that_says_its_encoding_is_read_by_it_where_that_is_possible(encoding: str, said: str) -> None:
    assert decode(Path("a.html"), said.encode(encoding)) == said


def test_front_matter_with_lists_keeps_the_body(tmp_path: Path) -> None:
    head = "---\ntitle: T\ntags:\n  - lds\n  - banks\nmyst:\n  html_meta:\n    description: x\n---\n"
    text = read_text(write(tmp_path / "a.md", head + "body"))
    assert (text.title, text.tags, text.body) == ("T", ("lds", "banks"), "body")
    asks = head.replace("myst:", "asks:\n- why is it slow\n- 'which lanes, and when'\nmyst:")
    text = read_text(write(tmp_path / "b.md", asks + "body"))
    assert text.tags[:6] == ("lds", "banks", "why", "is", "it", "slow")
    assert text.asks == ("why is it slow", "which lanes, and when")
    for head in ('---\nasks: [why is it, "which lanes"]\n---\n', '+++\nasks = ["why is it", "which lanes"]\n+++\n'):
        assert read_text(write(tmp_path / "c.md", head + "body")).asks == ("why is it", "which lanes")
