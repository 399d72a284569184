"""Texts of a program, and documents of LangChain's loaders and splitters, to documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from documents.document import UNSAID, Citation, Text, make_text, said, sha256
from documents.encodings import clean
from documents.given_values import is_text, require
from records.errors import DocumentError

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangDocument

MOST_NAME = 1000  # characters


def named_text(name: str, text: str, given: Citation = UNSAID) -> Text:
    """A text under its name; DocumentError where it is empty."""
    is_name = is_text(name) and len(name) <= MOST_NAME and is_text(clean(name))
    require(is_name, f"a document's name is text of at most {MOST_NAME} characters", name)
    require(isinstance(text, str), f"the text of the document {name[:60]} is a str", text)
    return _made(name, name, text, given)


def from_langchain(documents: Iterable[LangDocument]) -> Iterator[tuple[str, Text | DocumentError]]:
    """The place of each of LangChain's documents, and the document, or why there is none."""
    is_list = isinstance(documents, Iterable) and not hasattr(documents, "page_content")
    require(is_list, "documents are a list of LangChain's", documents)
    for document in documents:
        text, metadata = getattr(document, "page_content", None), getattr(document, "metadata", None)
        is_one = isinstance(text, str) and isinstance(metadata, Mapping)
        require(is_one, "a LangChain document has a page_content, which is text, and metadata", document)
        given = Citation.of(document.metadata)
        place = f"{given.source}#{said(document.metadata.get('page'))}" if given.source else ""
        digest = sha256(b"", document.page_content)[:12]
        identity = getattr(document, "id", None)
        name = str(identity or place.rstrip("#") or digest)
        # One with an id is told by it, the others by source, page and text: a splitter makes many of one page.
        key = f"{place}#{digest}" if place and not identity else name
        try:
            yield f"text:{key}", _made(key, name, document.page_content, given)
        except DocumentError as error:
            yield f"text:{key}", error


def _made(key: str, name: str, text: str, given: Citation) -> Text:
    return make_text(f"text:{key}", name, text.encode("utf-8", "surrogatepass"), text, given)
