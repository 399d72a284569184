from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.reader import DocumentReader, most_bytes
from knowledge.chunks import cut
from records.errors import DocumentError


def pdf(*pages: bytes, title: str = "") -> bytes:
    """A PDF whose pages have these content streams, deflated."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, content in enumerate(pages):
        stream = zlib.compress(content)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode() + stream + b"\nendstream",
        ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    about = f"/Size {len(objects) + 1} /Root 1 0 R" + f" /Info << /Title ({title}) >>" * bool(title)
    return out + f"{head}trailer << {about} >>\nstartxref\n{len(out)}\n%%EOF".encode()


def page(text: str) -> bytes:
    return f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()


def test_a_pdf_keeps_its_pages(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    path = tmp_path / "isa.pdf"
    path.write_bytes(pdf(page("LDS has 32 banks"), page(""), page("# waves")))
    with DocumentReader() as reader:
        text = reader.read(path)
    assert text.body == "# isa\n\n## page 1\n\nLDS has 32 banks\n\n## page 3\n\n\\# waves"


@pytest.mark.parametrize(
    ("said", "title"),
    [("Memory of  MI300X", "Memory of MI300X"), ("untitled", "2401"), ("Microsoft Word - a.docx", "2401")],
)
def test_a_pdf_has_the_title_that_it_gives_itself(said: str, title: str, tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    path = tmp_path / "2401.pdf"
    path.write_bytes(pdf(page("LDS has 32 banks"), title=said))
    with DocumentReader() as reader:
        assert reader.read(path).title == title


def test_what_a_format_holds_is_read_and_cited(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>The page</title><meta charset=utf-8><p>waves</p>")
    (tmp_path / "k.cu").write_text("// doc\n__global__ void f() { }\n")
    with DocumentReader() as reader:
        page_, code = reader.read(tmp_path / "a.html", location="docs/a.html"), reader.read(tmp_path / "k.cu")
    assert (page_.title, page_.source, page_.body) == ("The page", "docs/a.html", "# The page\n\nwaves")
    assert code.title == "k.cu" and "## f" in code.body


def test_lines_may_end_as_on_windows_and_a_path_may_be_relative(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes(b"// one\r\nvoid f()\r\n{ }\r\n\r\n// two\r\nvoid g()\r\n{ }\r\n")
    with DocumentReader() as reader:
        body = reader.read(Path(os.path.relpath(path))).body
    assert body == "# k.cu\n\n## f\n\n```cu\n// one\nvoid f()\n{ }\n```\n\n## g\n\n```cu\n// two\nvoid g()\n{ }\n```"


HOSTILE: dict[str, bytes | Callable[[], bytes]] = {
    "cut.pdf": pdf(page("text"))[:200],
    "noise.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 50,
    "bomb.pdf": lambda: pdf(b" " * 300_000_000),  # made when it is needed
    "blank.pdf": pdf(b""),
    "loop.pdf": b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R /Kids [1 0 R] >>\nendobj\n"
    b"trailer << /Root 1 0 R /Size 2 >>\nstartxref\n9\n%%EOF",
    "nested.ipynb": b'{"cells":' + b"[" * 1_000_000,
    "nested.html": b"<script>" + b"<div>" * 100_000,
    "comments.html": b"<!--" * 200_000 + b"<" * 200_000 + b"<!" * 100_000,
    "tags.html": b"<a " * 300_000,
    "binary.md": bytes(range(256)) * 100,
    "binary.html": b"\x89PNG\r\n\x1a\n\0\0" * 1000,
    "empty.rst": b"",
    "blank.md": b"\n\n  \n",
    "wide.txt": b"\xff\xfe" + b"\xd8\xdc" * 999,
    "marks.md": b"```\n" * 1000,
    "marks.py": b"(" * 10_000,
    "marks.rst": b".. \n" * 10_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence_or_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    body = HOSTILE[name]
    path.write_bytes(body if isinstance(body, bytes) else body())
    with DocumentReader(cpu_s=1.0) as reader:
        with pytest.raises(DocumentError, match="the document") as caught:
            reader.read(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
        (tmp_path / "good.html").write_text("<p>still read</p>")
        assert reader.read(tmp_path / "good.html").body.endswith("still read")


def test_rst_that_is_nothing_but_titles_ends_in_its_time(tmp_path: Path) -> None:
    path = tmp_path / "titles.rst"
    path.write_bytes(b"a\n=\n" * 100_000)
    with DocumentReader(cpu_s=0.2) as reader, pytest.raises(DocumentError, match="takes too long"):
        reader.read(path)


WIDE = b" " * 300_000  # a pattern that looks at each pair of places in it takes an hour
LONG = {
    "a.md": b"---\na%sb\n---\n# a%sb ##\n\n# %s\n\n%s" % (WIDE, WIDE, b"<" * 300_000, b"<h1 \n" * 300_000),
    "a.h": b"int a;\n" * 700_000,
    "a.rst": b"a :r:`b%sc` d\n\n%s `x\n\n`a%sb\n\n`e%s<f>`_" % (WIDE, b":a" * 300_000, WIDE, WIDE),
}


@pytest.mark.parametrize("name", LONG)
def test_long_lines_of_marks_and_spaces_are_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LONG[name])
    with DocumentReader() as reader:
        read = reader.read(path)
    assert read.title == {"a.md": "a b", "a.h": "a.h"}.get(name, "a")
    assert cut(read.title, read.body)
    assert name != "a.rst" or ("a `b" in read.body and read.body.endswith("\n\ne"))


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "line.md"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)  # a hole: nothing is written
    with DocumentReader() as reader, pytest.raises(DocumentError, match="larger than 5 MB"):
        reader.read(path)
    assert most_bytes(Path("a.pdf")) == 100_000_000
