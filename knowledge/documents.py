"""Files to documents: accepted kinds, front matter, and one clear sentence for a refusal."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from records.errors import DocumentError

MAX_BYTES = 5_000_000
SUFFIXES = (".md", ".txt", ".rst")  # what a folder is searched for; a file named by hand may have any suffix
_FIELD = re.compile(r"([A-Za-z_]+)\s*:\s*(.*)")
_KEPT = frozenset("\n\t")


@dataclass(frozen=True)
class Document:
    """A document as the store knows it."""

    id: str
    title: str
    source: str  # what to cite
    licence: str
    arch: str  # names with a space between, empty where it holds for every GPU
    tags: tuple[str, ...]
    uri: str  # where it came from: a path, or shipped:NAME
    sha256: str
    chunks: int
    added_at: str  # UTC, ISO 8601


@dataclass(frozen=True)
class Text:
    """A file read and understood, not yet stored. `body` has no front matter and no control characters."""

    uri: str
    sha256: str  # of the file's bytes
    title: str
    source: str
    licence: str
    arch: str
    tags: tuple[str, ...]
    body: str


@dataclass(frozen=True)
class Added:
    """The outcome of adding one file."""

    id: str
    title: str
    chunks: int
    status: str  # added | unchanged | replaced


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Files to read, folders searched through, each file once.

    Raises:
        DocumentError: a path is missing, a folder holds no document, or nothing was named.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.suffix.lower() in SUFFIXES and p.is_file()]
            inside = [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
            if not inside:
                raise DocumentError(f"the folder {path} holds no document; documents end in {', '.join(SUFFIXES)}")
            found.update(dict.fromkeys(p.resolve() for p in inside))
        elif path.is_file():
            found[path.resolve()] = None
        elif path.exists():
            raise DocumentError(f"{path} is neither a file nor a folder; name a Markdown or text file")
        else:
            raise DocumentError(f"there is no file or folder {path}; check the path")
    if not found:
        raise DocumentError("no document was named; give at least one Markdown or text file, or a folder of them")
    return list(found)


def read_text(path: Path, uri: str | None = None) -> Text:
    """Read one Markdown, reStructuredText or plain text file.

    Raises:
        DocumentError: unreadable, over 5 MB, not UTF-8 text, or empty.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"the document {path} cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise DocumentError(f"the document {path} is larger than {MAX_BYTES // 10**6} MB; split it into smaller files")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"the document {path} is not UTF-8 text; convert it to Markdown or text first") from error
    if "\0" in text:
        raise DocumentError(f"the document {path} is binary, not text; convert it to Markdown or text first")
    fields, body = _front_matter(clean(text))
    if not body.strip():
        raise DocumentError(f"the document {path} is empty; there is nothing to add")
    return Text(
        uri=uri or str(path.resolve()),
        sha256=hashlib.sha256(data).hexdigest(),
        title=_one_line(fields.get("title") or _first_heading(body) or path.stem),
        source=_one_line(fields.get("source") or path.name),
        licence=_one_line(fields.get("licence") or fields.get("license") or "not stated"),
        arch=" ".join(_names(fields.get("arch", ""))).lower(),
        tags=tuple(_names(fields.get("tags", ""))),
        body=body,
    )


def clean(text: str) -> str:
    """Drop control and invisible format characters (escape codes, direction overrides), and unify line ends."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in unified if c in _KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Fields between two `---` lines at the top; a text that only starts with a rule keeps it as its own."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return {}, text
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            return fields, "\n".join(lines[number + 1 :])
        match = _FIELD.fullmatch(line.strip())
        if match:
            fields[match[1].lower()] = match[2].strip().strip("\"'")
        elif line.strip():
            break
    return {}, text


def _first_heading(body: str) -> str:
    match = re.search(r"^#\s+(.+)$", body, re.MULTILINE)
    return match[1].strip(" #") if match else ""


def _names(text: str) -> list[str]:
    return [name for name in (part.strip(" \"'") for part in re.split(r"[,\[\] ]+", text)) if name]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
