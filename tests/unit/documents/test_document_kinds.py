from __future__ import annotations

import gzip
import io
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from documents.reader import DocumentReader
from records.errors import DocumentError

WHERE = 'title = "Banks"\ntags = ["lds", "bank conflict"]\nlicence = "MIT"\n[params]\nmath = true'


@pytest.mark.parametrize(
    "head",
    [
        f"+++\n{WHERE}\n+++\n",
        f"+++ \r\n{WHERE}\r\n+++",
        '{\n  "title": "Banks",\n  "Tags": ["lds", "bank conflict"],\n  "licence": "MIT",\n  "weight": 3\n}\n',
        '---\n"title": >-\n  Banks\ntags:\n- lds\n- bank conflict\nlast-updated by: X\nlicence: |\n  MIT\n---\n',
    ],
)
def test_fields_at_the_top_are_read_as_site_builders_write_them(head: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(f"{head}\nThe LDS has 32 banks.".encode())
    text = DocumentReader().read(tmp_path / "a.md")
    assert (text.title, text.tags, text.licence) == ("Banks", ("lds", "bank", "conflict"), "MIT")
    assert text.body.strip() == "The LDS has 32 banks."


@pytest.mark.parametrize(
    "said",
    [
        "+++\nThis is a rule of pluses.\n+++\nand text",
        "+++\nx = " + "[" * 9000 + "\n+++\ntext",
        "+++\nx = 0x" + "f" * 9000 + "\n+++\ntext",
        '{"title": "a file of data"}',
        '{"title": "a line"}\n{"title": "another"}',
        '{"a": ' + "[" * 19_000,
        "{{< shortcode >}}\ntext",
        "+++\ntitle = 'never closed'\n",
    ],
)
def test_what_only_looks_like_fields_stays_in_the_text(said: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(said)
    text = DocumentReader().read(tmp_path / "a.md")
    assert (text.title, text.body) == ("a", said)


def archive() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("word/document.xml", "<w:t>text</w:t>")
    return made.getvalue()


BINARY = {
    "elf": Path(sys.executable).read_bytes()[:20_000],
    "elf.txt": b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQ", 3, 62, 1, 4096, 64) * 200,
    "wasm.md": b"\0asm\1\0\0\0" + b"\x01\x04\x01\x60\0\0" * 100,
    "a.docx": archive(),
    "gzip.rst": gzip.compress(b"# text\n" * 50),
    "numbers.txt": struct.pack("<4000H", *range(4000)),
    "halves.txt": struct.pack("<4000e", *[i / 4000 for i in range(4000)]),
    "sound.txt": b"RIFF$\0\0\0WAVE" + struct.pack("<4000h", *[i % 90 - 45 for i in range(4000)]),
    "marked.txt": b"\xff\xfe" + b"a\0\0\0" * 500,
    "codes.txt": b"\xff\xfe" + b"a\0\1\0" * 500,
}


@pytest.mark.parametrize("name", BINARY)
def test_what_is_binary_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(BINARY[name])
    with DocumentReader() as reader, pytest.raises(DocumentError) as caught:
        reader.read(tmp_path / name)
    assert str(caught.value) == f"the document {tmp_path / name} is binary, not text; it cannot be added"


@pytest.mark.parametrize(
    "page", ["<div id=app></div><script>draw()</script>", "<frameset><frame src=a></frameset>", ""]
)
def test_a_page_without_text_of_its_own_is_refused_though_it_has_a_title(page: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<title>App</title>{page}")
    with DocumentReader() as reader, pytest.raises(DocumentError, match="no text of its own"):
        reader.read(tmp_path / "a.html")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("Größe ✓ 大\n".encode() * 20 + b"\xe2\x9c", "Größe ✓ 大\n" * 20 + "\ufffd"),  # cut in a letter
        ("größer als ".encode() * 9 + b"fa\xe7ade", "größer als " * 9 + "fa\ufffdade"),  # two encodings in one
        (b"N\bNA\bAM\bME\bE\n\n_\bt_\bh_\be", "NAME\n\nthe"),  # a printed manual
        ("one page\ftwo\vthree\u2028four".encode(), "one page\ntwo\nthree\nfour"),
        (b"one page\ftwo", "one page\ntwo"),
        (b"\x1b]0;a shell\x07" + b"\x1b[1mbold\x1b[0m " * 9 + b"end", "bold " * 9 + "end"),
    ],
)
def test_damage_and_the_printers_marks_do_not_spoil_words(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    assert DocumentReader().read(tmp_path / "a.txt").body == said


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("Read me\n=======\n\n```sh\n# install it\nmake\n```\n", "Read me"),
        ("```sh\n# install it\n```\n\n# Title #\n", "Title"),
        ("~~~\n# one\n```\n# two\n~~~\ntext\n", "a"),
        ("text\n```\n# never closed\n", "a"),
        (
            '<p align="center"><img src=x></p>\n<h1 align="center">\n <b>Fast</b> kernels\n</h1>\n# Install\n',
            "Fast kernels",
        ),
        ("# Instructions for ```gemm_xdl```\n\ntext\n", "Instructions for gemm_xdl"),
        ("# <a name='x'></a>The [ROCm](https://rocm.org) **API** {#main}\n\ntext\n", "The ROCm API"),
        ("# BlockReduce<T, 64> and vector<float>\n\ntext\n", "BlockReduce<T, 64> and vector<float>"),
    ],
)
def test_a_comment_in_code_is_no_title(body: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(body)
    assert DocumentReader().read(tmp_path / "a.md").title == title
