"""What a reader, or a program, gets out of an exported page."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import Any


class PageReader(HTMLParser):
    """Everything a browser would act on."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.policy = ""
        self.blocks: dict[str, str] = {}
        self.scripts: list[str] = []
        self._open: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self.attributes |= set(values)
        self._open = values.get("id") or "" if tag == "script" else None
        if values.get("http-equiv"):
            self.policy = values["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            self.blocks[self._open] = self.blocks.get(self._open, "") + data
        elif self._open == "":
            self.scripts.append(data)

    @property
    def book(self) -> Any:
        """The run, as the page's program reads it."""
        return json.loads(self.blocks["book"])

    def unpacked(self, name: str) -> list[Any]:
        """The values of all packed blocks of a name, in order."""
        rows, number = list[Any](), 0
        while f"{name}-{number}" in self.blocks:
            rows += json.loads(gzip.decompress(base64.b64decode(self.blocks[f"{name}-{number}"])))
            number += 1
        return rows

    @property
    def everything(self) -> str:
        """All data as text."""
        packed = [self.unpacked(name) for name in ("sheets", "calls", "machines")]
        return json.dumps([self.book, packed], ensure_ascii=False)
