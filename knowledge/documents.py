"""Documents: their records, and Markdown, reStructuredText or plain text with front matter to one of them."""

from __future__ import annotations

import codecs
import hashlib
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from knowledge.markup import from_rst
from records.errors import DocumentError

READER = 2  # part of a file's mark: raise it when a file would be read otherwise
_FIELD = re.compile(r"([A-Za-z_]+)\s*:\s*(.*)")
_DECLARED = re.compile(rb"(?:charset|coding)\s*[=:]\s*[\"']?([\w.:-]+)")  # in HTML, XML and source code
_ALPHABET = re.compile(r"(iso8859|cp\d|mac|koi8|shift_jis|euc_|iso2022|big5|gb)\S*")  # codecs that are tables
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # colours of a terminal
_KEPT = frozenset("\n\t")
_NO_CONTROL = dict.fromkeys([*range(32), 127]) | {ord(kept): kept for kept in _KEPT}


@dataclass(frozen=True)
class Document:
    """A document as the store knows it."""

    id: str
    title: str
    source: str  # what to cite
    licence: str
    arch: str  # names with a space between, empty where it holds for every GPU
    tags: tuple[str, ...]  # words to be found by, beside those of the text
    uri: str  # where it came from: a path, shipped:NAME or text:NAME
    sha256: str
    chunks: int
    added_at: str  # UTC, ISO 8601


@dataclass(frozen=True)
class Text:
    """A file read and understood, not yet stored. `body` is Markdown without front matter and control characters."""

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

    id: str  # empty where it was skipped
    title: str
    chunks: int
    status: str  # added | unchanged | replaced | skipped
    why: str = ""  # the reason for which a file was skipped


@dataclass(frozen=True)
class Citation:
    """The citation that a person gives with a document; what is empty is taken from the document."""

    title: str = ""
    source: str = ""
    licence: str = ""
    arch: str = ""
    tags: str = ""

    def __str__(self) -> str:
        return "\0".join((self.title, self.source, self.licence, self.arch, self.tags)).strip("\0")


def make_text(uri: str, name: str, data: bytes, body: str, given: Citation | None = None, source: str = "") -> Text:
    """A document from its bytes and its Markdown; DocumentError where there is not a word in it.

    `source` is cited where neither the person nor the document says what to cite.
    """
    given = given or Citation()
    fields, body = _front_matter(clean(body))
    if not body.strip():
        raise DocumentError(f"the document {name} is empty; there is nothing to add")
    return Text(
        uri=storable(uri),
        sha256=hashlib.sha256(data + str(given).encode("utf-8", "surrogatepass")).hexdigest(),
        title=_one_line(given.title or fields.get("title") or _first_heading(body) or Path(name).stem),
        source=_one_line(given.source or fields.get("source") or source or Path(name).name),
        licence=_one_line(given.licence or fields.get("licence") or fields.get("license") or "not stated"),
        arch=" ".join(_names(given.arch or fields.get("arch", ""))).lower(),
        tags=tuple(_names(f"{given.tags or fields.get('tags', '')} {fields.get('asks', '')}")),
        body=body,
    )


def plain_body(path: Path, data: bytes) -> str:
    """The Markdown of a file that is text."""
    text = decode(path, data)
    return from_rst(text) if path.suffix.lower() in (".rst", ".rest") else text


def decode(path: Path, data: bytes) -> str:
    """Text in whichever encoding it is: UTF-8 or UTF-16 as marked or found, else the likeliest.

    Raises:
        DocumentError: the bytes are no text.
    """
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", "replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_wide(data):
        wide = "utf-16" if data[0] + data[1] == 0xFF + 0xFE else "utf-16-le" if data[1] == 0 else "utf-16-be"
        text = data.decode(wide, "replace")
        if text.count("\ufffd") > len(text) // 100:
            raise DocumentError(f"the document {path} is binary, not text; it cannot be added")
        return text
    if b"\0" in data or _controls(data[:65536]) > min(len(data), 65536) // 50:
        raise DocumentError(f"the document {path} is binary, not text; it cannot be added")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _guessed(data)


_CONTROL_BYTES = bytes([*range(1, 9), *range(14, 27), *range(28, 32), 127])


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, _CONTROL_BYTES))


def _is_wide(data: bytes) -> bool:
    """True for UTF-16 without a mark: every other byte of mostly Latin text is zero."""
    head = data[:4096]
    half = len(head) // 2
    return half >= 8 and len(data) % 2 == 0 and (head[1::2].count(0) > half * 0.7) != (head[::2].count(0) > half * 0.7)


def _guessed(data: bytes) -> str:
    """Text that is not UTF-8: in the encoding it names, else in Windows' Latin one or, by statistics, another."""
    declared = _DECLARED.search(data[:2048])
    try:
        codec = codecs.lookup(declared[1].decode()).name if declared else ""
        if _ALPHABET.fullmatch(codec):
            return data.decode(codec)
    except (LookupError, UnicodeError):
        pass
    best = None
    if sum(byte > 127 for byte in data[:20000]) > len(data[:20000]) // 4:
        try:
            from charset_normalizer import from_bytes
        except ImportError:
            pass
        else:
            best = from_bytes(data[:20000], cp_isolation=list(_ALPHABETS)).best()
    return data.decode(best.encoding if best else "cp1252", "replace")


_ALPHABETS = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256")


def clean(text: str) -> str:
    """Drop control and invisible format characters (escape codes, direction overrides), and unify line ends."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\x1b" in unified:
        unified = _ESCAPE.sub("", unified)
    if unified.isascii():
        return unified.translate(_NO_CONTROL)
    bad = [c for c in set(unified) if c not in _KEPT and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")]
    return unified.translate(dict.fromkeys(map(ord, bad))) if bad else unified


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Fields between two `---` lines at the top; a text that only starts with a rule keeps it as its own."""
    if not text.startswith("---"):
        return {}, text
    lines = text.split("\n")
    fields: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines[1:60], start=1):
        if line.strip() in ("---", "..."):
            return fields, "\n".join(lines[number + 1 :])
        match = _FIELD.fullmatch(line.strip())
        item = line.strip().removeprefix("- ") if line.startswith((" ", "-")) else ""
        if match and not line.startswith((" ", "-")):
            name = match[1].lower()
            fields[name] = match[2].strip().strip("\"'")
        elif item and name:
            fields[name] = f"{fields[name]} {item}".strip()  # a list or a nested field, one entry a line
        elif line.strip() and not line.startswith("#"):
            break
    return {}, text


def _first_heading(body: str) -> str:
    match = re.search(r"^#\s+(.+)$", body, re.MULTILINE)
    return match[1].strip(" #") if match else ""


def _names(text: str) -> list[str]:
    return [name for name in (part.strip(" \"'") for part in re.split(r"[,\[\] ]+", storable(text))) if name]


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())[:300]


def storable(text: str) -> str:
    """Text of a path or an argument whose bytes may be no UTF-8, without what cannot be written."""
    return text.encode("utf-8", "backslashreplace").decode()
