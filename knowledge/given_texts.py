"""Texts and LangChain documents that a program hands over, ready to be stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from knowledge.documents import Added, Citation, clean, make_text
from knowledge.given_values import is_text, require
from knowledge.intake import Item
from knowledge.tables import Cut
from records.errors import DocumentError

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangDocument

MOST_NAME = 1000
_GIVEN = "text:"


def cited(given: Citation | None) -> Citation:
    """The citation, or an empty one; UsageError for anything else."""
    require(given is None or isinstance(given, Citation), "what is said of documents is a Citation", given)
    return given or Citation()


def text_items(texts: Iterable[tuple[str, str, Citation]]) -> list[Item]:
    """One for each name and text; DocumentError where a text is empty."""
    require(isinstance(texts, Iterable), "texts are a list, each of a name, a text and a Citation", texts)
    items = []
    for row in texts:
        require(isinstance(row, Sequence) and len(row) == 3, "a text to add is a name, a text and a Citation", row)
        name, text, given = row
        is_name = is_text(name) and len(name) <= MOST_NAME and is_text(clean(name))
        require(is_name, f"a document's name is text of at most {MOST_NAME} characters", name)
        require(isinstance(text, str), f"the text of the document {name[:60]} is a str", text)
        items.append(_item(name, name, text, cited(given)))
    return items


def document_items(documents: Iterable[LangDocument]) -> list[Item]:
    """One for each of LangChain's documents; an empty one is an outcome already."""
    require(isinstance(documents, Iterable), "documents are a list of LangChain's", documents)
    items = []
    for document in documents:
        is_one = isinstance(getattr(document, "page_content", None), str)
        is_one = is_one and isinstance(getattr(document, "metadata", None), Mapping)
        require(is_one, "a LangChain document has a page_content, which is text, and metadata", document)
        key, name, given = _named(document)
        try:
            items.append(_item(key, name, document.page_content, given))
        except DocumentError as error:
            items.append(Item(_GIVEN + key, "", Added("", name, 0, "skipped", str(error))))
    return items


def _item(key: str, name: str, text: str, given: Citation) -> Item:
    made = make_text(_GIVEN + key, name, text.encode("utf-8", "surrogatepass"), text, given)
    return Item(made.uri, "", Cut.of(made))


def _named(document: LangDocument) -> tuple[str, str, Citation]:
    about = {str(key).lower(): _said(value) for key, value in document.metadata.items()}
    given = Citation(
        title=about.get("title", ""),
        source=about.get("source", ""),
        licence=about.get("licence") or about.get("license", ""),
        arch=about.get("arch", ""),
        tags=about.get("tags", ""),
    )
    place = f"{given.source}#{about.get('page', '')}" if given.source else ""
    digest = hashlib.sha256(document.page_content.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    identity = getattr(document, "id", None)
    name = str(identity or place or digest)
    return name if identity or not place else f"{place}#{digest}", name, given


def _said(value: object) -> str:
    """Metadata as text, whatever a loader put there; nothing for None and for no number."""
    if isinstance(value, list | tuple | set):
        return " ".join(map(_said, value))
    return "" if value is None or (isinstance(value, float) and value != value) else str(value)
