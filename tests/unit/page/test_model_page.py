from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from page.model_page import HEADINGS, model_page
from records.model_scan import read_scan

STORED = Path(__file__).resolve().parents[2] / "data/models/rows-scan"


class Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data.strip())


def test_the_page_has_a_row_for_each_region_and_no_program() -> None:
    cells = Cells(model_page(read_scan(STORED)))
    assert (cells.tags.count("td"), "script" in cells.tags) == (len(HEADINGS), False)
    assert {"add_rms_norm", "50.0%", "2.50×", "1.429×"} <= set(cells.words)
    assert any("40 us predicted on mi300x" in words for words in cells.words)


def test_names_from_outside_are_text() -> None:
    scan = read_scan(STORED)
    region = replace(scan.regions[0], name="<script>x", reason="a\u202eb")
    cells = Cells(model_page(replace(scan, model="<b>m", regions=(region,), notes=("<i>n",))))
    assert not {"script", "b", "i"} & set(cells.tags)
    assert "<script>x" in cells.words
