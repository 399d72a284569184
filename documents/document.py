"""A document that was read, what a person says of it, and how Markdown or a text of a program becomes one."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from documents.encodings import clean
from documents.front_matter import front_matter
from documents.given_values import is_text, require
from records.errors import DocumentError

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangDocument

READER = 7  # part of a file's mark and digest: raise it when a file would be read otherwise
_TITLE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})(?s:.*?)(?:^[ \t]*\1|\Z)"  # code between fences
    r"|^\#\s+(.+)$|^(\w.*)\n=+[ \t]*$|^[ \t]*<h1\b[^>]{,300}>(?s:(.{,1000}?))</h1>",
    re.MULTILINE,
)
_MARKUP = re.compile(  # of titles: links, code, bold letters, Doxygen's names and tags, not parameters of templates
    r"!?\[([^\[\]]*)\]\([^()]*\)|`+|\*\*|\{#[^{}]*\}|</?(?:a|b|br|center|code|em|i|img|p|small|span|strong|sub|sup)\b[^<>]*>"
)
_ARCHES = {  # by other names of GPUs: a document with an arch that no run has would never be found
    **dict.fromkeys(("mi300", "mi300x", "mi300a", "mi325x", "cdna3"), "gfx942"),
    **dict.fromkeys(("mi210", "mi250", "mi250x", "cdna2"), "gfx90a"),
    **dict.fromkeys(("mi350x", "mi355x", "cdna4"), "gfx950"),
    **dict.fromkeys(("h100", "h200", "hopper", "sm_90"), "sm_90 sm_90a"),  # what holds for one holds for the other
}
MOST_NAME = 1000  # characters of a text's
_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Text:
    """A file read and understood, not yet stored. `body` is Markdown without front matter and control characters."""

    uri: str
    sha256: str  # of the file's bytes
    title: str
    source: str
    licence: str
    arch: str
    tags: tuple[str, ...]  # with the words of `asks`
    asks: tuple[str, ...]  # what somebody would ask whom the document answers
    body: str
    name: str = ""  # the id that a program gave it
    about: str = ""  # the metadata that a program gave with it, as JSON


@dataclass(frozen=True)
class Citation:
    """The citation that a person gives with a document; what is empty is taken from the document."""

    title: str = ""
    source: str = ""
    licence: str = ""
    arch: str = ""
    tags: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            require(isinstance(value, str), f"a citation's {name} is text", value)

    @classmethod
    def of(cls, about: Mapping[Any, object]) -> Citation:
        """Read the citation in metadata, whatever a person or a program put there."""
        fields = {str(name).lower(): metadata_text(value) for name, value in about.items()}
        fields["licence"] = fields.get("licence") or fields.get("license", "")
        return cls(**{name: fields.get(name, "") for name in cls.__match_args__})

    def __str__(self) -> str:
        return "\0".join((self.title, self.source, self.licence, self.arch, self.tags)).strip("\0")


UNSAID = Citation()


def metadata_text(value: object) -> str:
    """Metadata as text; nothing for None and for what is no number."""
    if isinstance(value, list | tuple | set):
        return " ".join(map(metadata_text, value))
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def make_text(
    uri: str,
    name: str,
    data: bytes,
    body: str,
    citation: Citation = UNSAID,
    rule: Citation = UNSAID,
    location: str = "",
) -> Text:
    """Make a document of bytes and their Markdown.

    What is given comes first, then what it says, then its folder's rule.
    """
    fields, body = front_matter(clean(body))
    require_word(name, body)
    location = ": ".join(filter(None, (rule.source, location or Path(name).name)))
    licence = citation.licence or fields.get("licence") or fields.get("license") or rule.licence or "not stated"
    asks = fields.get("asks", "")
    return Text(
        uri=storable(uri),
        sha256=sha256(data, f"{citation}{rule}{READER}"),
        title=_one_line(citation.title or fields.get("title") or _first_heading(body) or Path(name).stem),
        source=_one_line(citation.source or fields.get("source") or location),
        licence=_one_line(licence),
        arch=" ".join(arch_names(citation.arch or fields.get("arch", rule.arch))),
        tags=tuple(_names(f"{citation.tags or fields.get('tags', rule.tags)} {asks}")),
        asks=tuple(_phrases(asks)),
        body=body,
    )


def named_text(name: str, text: str, citation: Citation = UNSAID) -> Text:
    """Name a text; DocumentError where it is empty."""
    is_name = is_text(name) and len(name) <= MOST_NAME and is_text(clean(name))
    require(is_name, f"a document's name is text of at most {MOST_NAME} characters", name)
    require(isinstance(text, str), f"the text of the document {name[:60]} is a str", text)
    return _text_of(name, name, text, citation)


def from_langchain(documents: Iterable[LangDocument]) -> Iterator[tuple[str, Text | DocumentError]]:
    """Yield the place of each of LangChain's documents, and the document, or why there is none."""
    is_list = isinstance(documents, Iterable) and not hasattr(documents, "page_content")
    require(is_list, "documents are a list of LangChain's", documents)
    for document in documents:
        text, metadata = getattr(document, "page_content", None), getattr(document, "metadata", None)
        is_one = isinstance(text, str) and isinstance(metadata, Mapping)
        require(is_one, "a LangChain document has a page_content, which is text, and metadata", document)
        metadata = document.metadata
        citation = Citation.of(metadata)
        location = f"{citation.source}#{metadata_text(metadata.get('page'))}" if citation.source else ""
        digest = sha256(b"", document.page_content)[:12]
        identity = getattr(document, "id", None)
        name = str(identity or location.rstrip("#") or digest)
        # One with an id is told by it, the others by source, page and text: a splitter makes many of one page.
        key = f"{location}#{digest}" if location and not identity else name
        about = json.dumps(dict(metadata), default=str)
        mark = sha256(document.page_content.encode("utf-8", "surrogatepass"), f"{key}\0{about}{READER}")
        try:
            text = _text_of(key, name, document.page_content, citation)
            yield f"text:{key}", replace(text, name=str(identity or ""), about=about, sha256=mark)
        except DocumentError as error:
            yield f"text:{key}", error


def _text_of(key: str, name: str, text: str, citation: Citation) -> Text:
    return make_text(f"text:{key}", name, text.encode("utf-8", "surrogatepass"), text, citation)


def sha256(data: bytes, text: str = "") -> str:
    """Compute the digest of bytes with a text behind them, which may have what is no UTF-8."""
    return hashlib.sha256(data + text.encode("utf-8", "surrogatepass")).hexdigest()


def require_word(name: str, text: str) -> None:
    """Raise DocumentError where there is not a word in a text: passages of marks alone are found by no question."""
    if not _LETTER.search(text):
        why = "has no word in it" if text.strip() else "is empty"
        raise DocumentError(f"the document {name} {why}; there is nothing to add")


def arch_names(text: str) -> list[str]:
    """Find the compilers' names of GPUs, whichever way they are named, each once."""
    return list(dict.fromkeys(" ".join(_ARCHES.get(name, name) for name in _names(text.lower())).split()))


def _first_heading(body: str) -> str:
    """Find the first title outside of code: marked, underlined, or as READMEs write it in HTML."""
    titles = (match[2] or match[3] or match[4] for match in _TITLE.finditer(body))
    return _MARKUP.sub(r"\1", next(filter(None, titles), "")).strip(" #")


def _names(text: str) -> list[str]:
    return [name for name in (part.strip("\"'") for part in re.split(r"[,\[\]\s]+", storable(text))) if name]


def _phrases(text: str) -> list[str]:
    """List the entries of a list, in brackets or a line each."""
    lines = text.strip("[]").split(",") if text.startswith("[") else text.split("\n")
    return [phrase for phrase in (_one_line(line).strip(" \"'") for line in lines) if phrase]


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())[:300]


def storable(text: str) -> str:
    """Text of a path or an argument whose bytes may be no UTF-8, without what cannot be written."""
    return text.encode("utf-8", "backslashreplace").decode()
