"""A document's passages as they are stored: with ids, and with the terms that they are found by."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from documents.splitter import ORIGIN, passages
from knowledge.tokens import tokens


@dataclass(frozen=True)
class Chunk:
    """One passage. `id` depends on title, section and text only: an untouched passage keeps it wherever it lies."""

    id: str
    section: str
    text: str
    terms: Sequence[str]  # it is found by, none where nothing is to find it


def cut(title: str, body: str, tags: Sequence[str] = ()) -> list[Chunk]:
    """Cut a document into its passages, in their order."""
    chunks: list[Chunk] = []
    occurrences = Counter[tuple[str, str]]()
    for section, text in passages(body):
        occurrences[section, text] += 1
        key = f"{title}\0{section}\0{text}\0{occurrences[section, text]}"
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        is_origin = section.rpartition(" > ")[2] == ORIGIN and "Confidence:" in text
        parts = (title, title, " ".join(tags), section, section, text)  # headings twice: they say what it is about
        chunks.append(Chunk(digest[:32], section, text, [] if is_origin else tokens("\n".join(parts))))
    return chunks
